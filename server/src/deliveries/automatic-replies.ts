// Recognizes automatic out-of-office replies and tells them apart from delivery reports. Pure; never throws, every pattern is linear.
import type { Email } from "postal-mime";

/** How mail programs begin the subject of an automatic reply. Exchange uses the language of the absent user. */
const SUBJECTS = [
  // English, German, Dutch, Danish, Norwegian, Swedish, Polish, Czech, Slovak, Finnish, Hungarian, Croatian, Lithuanian, Latvian.
  "auto\\p{L}{0,12}[ :_-]{1,3}(?:reply|response|answer|generated|submitted|antwor[td]|antwoord|svar|odpowied[zź]|odpov[eě][dď]|vastaus|válasz|odgovor|atsakymas|atbilde)",
  "auto(?:reply|response|responder|antwort|vastus)|auto:",
  "out of (?:the )?office|on vacation|vacation (?:reply|message|notice)|away (?:from|message)|i am (?:away|out of)|holiday",
  "abwesen|afwezig|réponse auto|absence du|respuesta auto|resposta auto|risposta auto|răspuns auto|odpowied[zź] auto",
  "fuera de la oficina|fuori (?:sede|ufficio)|fora do escrit|otomatik yan[ıi]t|samodejni odgovor",
  "автоответ|авто\\p{L}{0,12} (?:ответ|відповідь|отговор)|вне офиса|αυτόματη απάντηση",
  "自動(?:返信|応答|回覆)|自动(?:答复|回复)|不在|자동 ?회신|תשובה אוטומטית|رد تلقائي",
];
const REPLY_SUBJECT = new RegExp(
  `^(?:(?:re|fwd?|aw|sv): ?){0,3}[^\\p{L}]{0,3}(?:${SUBJECTS.join("|")})`,
  "iu",
);
const MAX_SUBJECT_LENGTH = 500;
const REPLY_HEADERS = ["x-autoreply", "x-autorespond", "x-auto-reply", "x-autoresponder", "x-vacation"];

/**
 * Returns whether the message is an automatic reply (RFC 3834). It says nothing about the original email, not even reliably that it
 * arrived.
 */
export function isAutomaticReply(
  email: Email,
  headers: ReadonlyMap<string, string>,
  isFromDaemon: boolean,
): boolean {
  // A letter and its accent may be separate code points.
  const subject = (email.subject ?? "").slice(0, MAX_SUBJECT_LENGTH).normalize("NFC");
  if (REPLY_HEADERS.some((name) => headers.has(name)) || REPLY_SUBJECT.test(subject)) return true;
  if (/^auto_reply/i.test(headers.get("precedence") ?? "")) return true;
  const submitted = headers.get("auto-submitted") ?? "";
  if (/vacation|out-of-office/i.test(submitted)) return true;
  if (isFromDaemon) return false;
  if (/^auto-replied/i.test(submitted)) return true;
  // Exchange, in any language. Its delivery reports include the original email or come from a daemon.
  return (
    /^auto-generated/i.test(submitted) && headers.has("x-auto-response-suppress") && !hasReportParts(email)
  );
}

function hasReportParts({ attachments }: Email): boolean {
  return attachments.some(
    ({ mimeType }) => mimeType.startsWith("message/") || mimeType === "text/rfc822-headers",
  );
}

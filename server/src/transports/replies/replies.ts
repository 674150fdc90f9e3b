// Classifies replies of mail servers by their sender, code, enhanced code and text (RFC 5321, 3463), or by the SES error name.
import { CAUSES, type Cause, type Category } from "./reply-causes.ts";
import type { RepliedPart, RejectionRow } from "./reply-row.ts";
import { REJECTION_ROWS } from "./reply-rows.ts";
import { speakerOf } from "./reply-speakers.ts";

export type { RepliedPart } from "./reply-row.ts";
export type { Cause, Category } from "./reply-causes.ts";

/** The categories that end an email. */
export type RejectionCategory = Exclude<Category, "temporary" | "throttled" | "unavailable">;

export interface ReplyToClassify {
  code: number;
  text: string;
  part: RepliedPart;
  /** Number of recipients of the message. A reply to the message refers to a recipient only if there is just one. */
  recipients: number;
  /** Host names of the replying server and the recipient's domain, if known. */
  hosts?: readonly string[];
}

export interface Classification {
  meaning: Category;
  cause: Cause;
  /** Another transport may accept the same message now. */
  outage?: true;
  /** The provider that replied, if it is known. */
  speaker: string | null;
}

export interface DoorRow {
  /** `x` stands for any digit. */
  code: string;
  status?: string;
  meaning: Extract<Category, "temporary" | "throttled" | "unavailable">;
  cause: Cause;
  outage?: true;
  source: string;
  sample: string;
  samplePart?: RepliedPart;
}

/** Replies after which the email is retried regardless of their text. The first matching row wins. */
export const DOOR_ROWS: readonly DoorRow[] = [
  {
    code: "421",
    meaning: "throttled",
    cause: "rate",
    outage: true,
    source:
      "RFC 5321 §3.8: the server is closing; Gmail, Yahoo, Outlook: too fast; SES: too many connections",
    sample: "421 4.7.28 unusual rate of mail",
  },
  {
    code: "454",
    meaning: "throttled",
    cause: "rate",
    outage: true,
    source: "SES: 454 Throttling failure; RFC 4954 §6: temporary authentication failure",
    sample: "454 4.7.0 Daily quota exceeded",
    samplePart: "message",
  },
  ...(["530", "534", "535", "538"] as const).map((code): DoorRow => ({
    code,
    meaning: "unavailable",
    cause: "unreachable",
    outage: true,
    source:
      "RFC 4954 §6, RFC 3207 §4: the server requires a login, a stronger one, or encryption. A problem of our settings, not of the email",
    sample: `${code} 5.7.0 Must issue a STARTTLS command first`,
    samplePart: "mail",
  })),
  {
    code: "xxx",
    status: "X.4.5",
    meaning: "throttled",
    cause: "rate",
    outage: true,
    source: "RFC 3463 X.4.5; Gmail 550 5.4.5 ends the next day despite its first digit",
    sample: "550 5.4.5 Daily user sending limit exceeded",
    samplePart: "message",
  },
  {
    code: "4xx",
    status: "X.7.x",
    meaning: "throttled",
    cause: "rate",
    source: "RFC 3463, RFC 6647 (greylisting)",
    sample: "450 4.7.1 Greylisted",
  },
  {
    code: "451",
    meaning: "throttled",
    cause: "busy",
    source: "RFC 5321; Microsoft 451 4.7.500 to 4.7.699",
    sample: "451 4.3.0 Mail server temporarily rejected message",
  },
  {
    code: "4xx",
    meaning: "temporary",
    cause: "busy",
    source: "RFC 5321 §4.2.1",
    sample: "452 4.2.2 The email account is over quota",
  },
];

const MAX_TEXT_LENGTH = 2_000;
/** RFC 2034: `5.1.1` at the start of the text; some servers write `#5.1.1`. */
const ENHANCED = /^\s*#?([245])\.(\d{1,3})\.(\d{1,3})(?!\S)/;
/** Words inside addresses carry no information: `mailbox-full@example.com`. */
const LOCAL_PART = /[^\s<>"'()[\]:;,=@]{1,64}@/g;
const DOMAIN = /@[^\s<>"'()[\]:;,@]{1,255}/g;
/** Reduces an address within brackets to `@`, so that only the words around it count. */
const BRACKETS = /[<"'([{]{1,2}\s?@\s?[>"')\]}]{1,2}/g;

interface Question {
  code: string;
  subject: string;
  detail: string;
  words: string;
  part: RepliedPart;
  recipients: number;
  speaker: string | null;
}

/** Classifies a 4xx or 5xx reply to our own submission: whether the email is retried, and otherwise the cause of the rejection. */
export function classify(reply: ReplyToClassify): Classification {
  const { question, row } = readReply(reply);
  const door = DOOR_ROWS.find(
    ({ code, status }) => fitsCode(code, question.code) && fitsStatus(status, question),
  );
  if (door === undefined) {
    const { meaning } = CAUSES[row.cause];
    return { meaning, cause: row.cause, speaker: question.speaker };
  }
  // For temporary failures prefer the cause found in the server's text; otherwise use the cause of the status code.
  const cause = row.words === undefined ? door.cause : row.cause;
  const { meaning, outage } = door;
  return { meaning, cause, ...(outage === true ? { outage } : {}), speaker: question.speaker };
}

/** Classifies the last reply for an email that was given up, including 4xx. */
export function classifyEnd(reply: ReplyToClassify): Classification & { row: RejectionRow } {
  const { question, row } = readReply(reply);
  return { meaning: CAUSES[row.cause].meaning, cause: row.cause, speaker: question.speaker, row };
}

/** Returns the fields shown next to a rejection: cause, provider and advice. */
export function notifyCause(cause: Cause, refusedBy: string | null): Record<string, string> {
  const { advice } = CAUSES[cause];
  return { cause, ...(refusedBy === null ? {} : { refusedBy }), advice };
}

interface ClassifiedReply {
  question: Question;
  row: RejectionRow;
}

/** Cache of classified replies by all inputs of the classification, because servers repeat the same few replies. */
const known = new Map<string, ClassifiedReply>();
const MAX_KNOWN = 1_000;
const MAX_KNOWN_LENGTH = 600;

function readReply({ code, text, part, recipients, hosts = [] }: ReplyToClassify): ClassifiedReply {
  if (code < 400 || code > 599) throw new RangeError(`Not a rejection: ${code}`);
  const cut = text.slice(0, MAX_TEXT_LENGTH);
  const said = cut.includes("@") ? cut.replace(LOCAL_PART, "@") : cut;
  const key = `${code} ${part} ${recipients} ${hosts.join(",")} ${said}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const [, , subject = "0", detail = "0"] = ENHANCED.exec(said) ?? [];
  const words = said.replace(DOMAIN, "@").replace(BRACKETS, "@").replace(/\s+/g, " ");
  const speaker = speakerOf(said, hosts);
  const question = { code: String(code), subject, detail, words, part, recipients, speaker };
  const read = { question, row: rowOf(question) };
  if (key.length > MAX_KNOWN_LENGTH) return read;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, read);
  return read;
}

function rowOf(question: Question): RejectionRow {
  const row = REJECTION_ROWS.find(
    (one) =>
      fitsCode(one.code, question.code) &&
      fitsStatus(one.status, question) &&
      fitsPart(one.of, question) &&
      (one.speaker === undefined || one.speaker.includes(question.speaker ?? "")) &&
      (one.words === undefined || one.words.test(question.words)),
  );
  if (row === undefined) throw new Error("No row of the classification table matches.");
  return row;
}

function fitsCode(pattern: string | undefined, code: string): boolean {
  return pattern === undefined || [...pattern].every((digit, at) => digit === "x" || digit === code[at]);
}

function fitsStatus(pattern: string | undefined, { subject, detail }: Question): boolean {
  if (pattern === undefined) return true;
  if (pattern === "none") return subject === "0";
  return pattern === `X.${subject}.${detail}` || pattern === `X.${subject}.x`;
}

function fitsPart(of: RejectionRow["of"], { part, recipients }: Question): boolean {
  switch (of) {
    case undefined:
      return true;
    case "mail":
    case "rcpt":
    case "unknown":
      return part === of;
    case "named":
      return part === "rcpt" || part === "unknown";
    case "recipient":
      return part === "rcpt" || part === "unknown" || (part === "message" && recipients === 1);
  }
}

export interface SesRow {
  /** The error's name without "Exception" or "Error". Matches any name if missing. */
  names?: readonly string[];
  /** HTTP status; `x` stands for any digit. */
  status: string;
  meaning: Category | "uncertain";
}

/**
 * Responses of Amazon SES other than 200 (SESv2 SendEmail, and AWS' common errors). With 3xx or 4xx the message was certainly not accepted.
 * A 5xx with an error name comes from SES: "if the call fails, Amazon SES returns an error message and does not send the email" (SES
 * developer guide).
 * With 503 the request was not handled (RFC 9110 §15.6.4). Other 5xx come from a proxy that does not know the outcome.
 */
export const SES_ROWS: readonly SesRow[] = [
  { status: "2xx", meaning: "uncertain" },
  { status: "4xx", names: ["TooManyRequests", "Throttling", "LimitExceeded"], meaning: "throttled" },
  { status: "4xx", names: ["MessageRejected", "MailFromDomainNotVerified"], meaning: "policy" },
  {
    status: "4xx",
    names: ["BadRequest", "Validation", "InvalidParameterValue", "Serialization"],
    meaning: "message",
  },
  { status: "413", meaning: "message" },
  // Paused or suspended account, bad signature, missing permission or configuration set, or a proxy. All of these would affect the next
  // email too.
  { status: "3xx", meaning: "unavailable" },
  { status: "4xx", meaning: "unavailable" },
  { status: "503", meaning: "unavailable" },
  { status: "5xx", names: [""], meaning: "uncertain" },
  { status: "5xx", meaning: "unavailable" },
];

/** Returns the row for an HTTP status and an error name. An empty name means that the response did not come from SES. */
export function sesRowOf(status: number, errorName: string): SesRow {
  const name = errorName.replace(/(Exception|Error)$/, "");
  const row = SES_ROWS.find(
    (one) =>
      [...one.status].every((digit, at) => digit === "x" || digit === String(status)[at]) &&
      (one.names === undefined || one.names.includes(name)),
  );
  return row ?? { status: "xxx", meaning: "uncertain" };
}

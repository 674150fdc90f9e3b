// What a server's answer means for a mail: the one table, by SMTP code and enhanced status code (RFC 5321, 3463, 5248, 6531) or SES' error name.
// Before it: providers/smtp-delivery.ts and providers/ses.ts have an answer. After it: outcomes.ts books it, deliveries/ acts on bounces.

/**
 * `temporary`: this mail, not now. `throttled`: too much or too fast, so not now and less at a time. `unavailable`: the
 * server, or our account there. These three are tried again. `hard-bounce`: the address is gone. `soft-bounce`: the mailbox
 * did not take it. `policy`: who we are, how we send or log in. `message`: its size or content. These four end the mail.
 */
export type Meaning =
  | "temporary"
  | "throttled"
  | "unavailable"
  | "hard-bounce"
  | "soft-bounce"
  | "policy"
  | "message";

/** The meanings that end a mail. */
export type RefusalMeaning = Exclude<Meaning, "temporary" | "throttled" | "unavailable">;

/** What the answer was given to: `rcpt` one recipient, `mail` the sender, `message` everything from DATA on. */
export type AnsweredPart = "mail" | "rcpt" | "message";

export interface SmtpAnswer {
  code: number;
  text: string;
  part: AnsweredPart;
  /** How many recipients the message has: only with one does an answer to the message speak of somebody. */
  recipients: number;
}

export interface SmtpRow {
  /** `x` stands for any digit. */
  code: string;
  /** `X` is the class, which the code says already; `x` any detail; `none` no enhanced code, or one that says nothing (X.0.x). */
  status?: string;
  /** `rcpt`: only in answer to RCPT. `recipient`: also later, when there is one recipient. */
  of?: "rcpt" | "recipient";
  /** Where codes alone mislead: what the text says. */
  words?: RegExp;
  meaning: Meaning;
  /** Another transport may take the same mail now. */
  outage?: true;
}

const POLICY_WORDS =
  /\b(spam|spf|dkim|dmarc|reputation|polic(y|ies)|relay(ing)?|authenticat\w*|authori[sz]\w*|denied|banned)\b|block(ed|list)|black ?list|deny ?list/i;

/** The first row that fits decides. */
export const SMTP_ROWS: readonly SmtpRow[] = [
  // RFC 5321 §3.8: the server closes. Gmail, Yahoo and Outlook say it when we are too fast, SES when there are too many connections.
  { code: "421", meaning: "throttled", outage: true },
  // `454 4.7.0 Daily quota exceeded`, SES: `454 Throttling failure`. RFC 4954 §6: our login could not be checked now.
  { code: "454", meaning: "throttled", outage: true },
  // RFC 4954 §6, RFC 3207 §4: the server wants a login, a better one, or encryption. Our settings, no mail's fault.
  { code: "530", meaning: "unavailable", outage: true },
  { code: "534", meaning: "unavailable", outage: true },
  { code: "535", meaning: "unavailable", outage: true },
  { code: "538", meaning: "unavailable", outage: true },
  // Congestion. Gmail: `550 5.4.5 Daily user sending limit exceeded`, which ends tomorrow whatever its first digit says.
  { code: "xxx", status: "X.4.5", meaning: "throttled", outage: true },
  { code: "4xx", status: "X.7.x", meaning: "throttled" },
  { code: "451", meaning: "throttled" },
  { code: "4xx", meaning: "temporary" },

  // The sender's address is our own.
  { code: "5xx", status: "X.1.7", meaning: "policy" },
  { code: "5xx", status: "X.1.8", meaning: "policy" },
  // Ambiguous, and relayed to a system that cannot say more: nobody says that the address is gone.
  { code: "5xx", status: "X.1.4", of: "recipient", meaning: "soft-bounce" },
  { code: "5xx", status: "X.1.9", of: "recipient", meaning: "soft-bounce" },
  { code: "5xx", status: "X.1.x", of: "recipient", meaning: "hard-bounce" },
  // Gmail gives a mailbox that gets too much the code of one that is disabled.
  { code: "5xx", status: "X.2.1", of: "recipient", words: /too quickly|at a rate/i, meaning: "soft-bounce" },
  { code: "5xx", status: "X.2.1", of: "recipient", meaning: "hard-bounce" },
  { code: "5xx", status: "X.2.3", meaning: "message" },
  { code: "5xx", status: "X.2.x", of: "recipient", meaning: "soft-bounce" },
  { code: "5xx", status: "X.3.3", meaning: "message" },
  { code: "5xx", status: "X.3.4", meaning: "message" },
  { code: "5xx", status: "X.3.x", of: "recipient", meaning: "soft-bounce" },
  // Exchange Online says this of addresses that its directory does not have.
  {
    code: "5xx",
    status: "X.4.1",
    of: "recipient",
    words: /recipient address rejected/i,
    meaning: "hard-bounce",
  },
  // The domain has no host that takes mail; X.4.310 is Microsoft's "DNS domain does not exist".
  { code: "5xx", status: "X.4.4", of: "recipient", meaning: "hard-bounce" },
  { code: "5xx", status: "X.4.310", of: "recipient", meaning: "hard-bounce" },
  { code: "5xx", status: "X.4.x", of: "recipient", meaning: "soft-bounce" },
  { code: "5xx", status: "X.5.x", meaning: "policy" },
  // X.6.7 to X.6.10 are RFC 6531's: an address that this server cannot write.
  { code: "5xx", status: "X.6.x", meaning: "message" },
  { code: "5xx", status: "X.7.x", meaning: "policy" },

  // No enhanced code. Most of these 550 mean a missing mailbox, but those that speak of policy are about us.
  { code: "5xx", status: "none", words: POLICY_WORDS, meaning: "policy" },
  { code: "550", status: "none", of: "rcpt", meaning: "hard-bounce" },
  { code: "551", status: "none", of: "rcpt", meaning: "hard-bounce" },
  { code: "553", status: "none", of: "rcpt", meaning: "hard-bounce" },
  // RFC 7504: the domain takes no mail at all.
  { code: "556", status: "none", of: "rcpt", meaning: "hard-bounce" },
  { code: "552", status: "none", of: "rcpt", meaning: "soft-bounce" },
  { code: "552", status: "none", meaning: "message" },
  { code: "5xx", meaning: "policy" },
];

/** RFC 2034: `5.1.1` at the beginning of the text. */
const ENHANCED = /^\s*[245]\.(\d{1,3})\.(\d{1,3})(?!\S)/;

/** The row for an answer of 4xx or 5xx. */
export function rowOf(answer: SmtpAnswer): SmtpRow {
  const [, subject = "0", detail = "0"] = ENHANCED.exec(answer.text) ?? [];
  const row = SMTP_ROWS.find(
    (one) =>
      fitsCode(one.code, answer.code) &&
      fitsStatus(one.status, subject, detail) &&
      fitsPart(one.of, answer) &&
      (one.words === undefined || one.words.test(answer.text)),
  );
  if (row === undefined) throw new RangeError(`Not an answer that refuses: ${answer.code}`);
  return row;
}

function fitsCode(pattern: string, code: number): boolean {
  const digits = String(code);
  return (
    [...pattern].every((digit, at) => digit === "x" || digit === digits[at]) && code >= 400 && code < 600
  );
}

function fitsStatus(pattern: string | undefined, subject: string, detail: string): boolean {
  if (pattern === undefined) return true;
  if (pattern === "none") return subject === "0";
  return pattern === `X.${subject}.${detail}` || pattern === `X.${subject}.x`;
}

function fitsPart(of: SmtpRow["of"], { part, recipients }: SmtpAnswer): boolean {
  if (of === undefined || part === "rcpt") return true;
  return of === "recipient" && part === "message" && recipients === 1;
}

export interface SesRow {
  /** The error's name without "Exception" or "Error"; missing: whatever it is. */
  names?: readonly string[];
  /** HTTP; `x` stands for any digit. */
  status: string;
  meaning: Meaning | "uncertain";
}

/**
 * Answers of Amazon SES other than 200 (SESv2 SendEmail, and AWS' common errors). 4xx and 3xx: surely not taken. 5xx with a
 * name is SES itself: "if the call fails, Amazon SES returns an error message and does not send the email" (SES developer
 * guide). 503: the request was not handled (RFC 9110 §15.6.4). Other 5xx come from something between, which does not know.
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
  // Paused, suspended, bad signature, no right to send, no such configuration set, a proxy in the way: the next mail would meet it too.
  { status: "3xx", meaning: "unavailable" },
  { status: "4xx", meaning: "unavailable" },
  { status: "503", meaning: "unavailable" },
  { status: "5xx", names: [""], meaning: "uncertain" },
  { status: "5xx", meaning: "unavailable" },
];

/** The row for an HTTP status and the error's name, empty when the answer names none: then it is not SES that speaks. */
export function sesRowOf(status: number, errorName: string): SesRow {
  const name = errorName.replace(/(Exception|Error)$/, "");
  const row = SES_ROWS.find(
    (one) =>
      [...one.status].every((digit, at) => digit === "x" || digit === String(status)[at]) &&
      (one.names === undefined || one.names.includes(name)),
  );
  return row ?? { status: "xxx", meaning: "uncertain" };
}

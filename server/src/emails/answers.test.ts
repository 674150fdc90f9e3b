// The table of answers, row by row: each row is hit by an answer that servers really give, and means what it should.
import { expect, test } from "vitest";
import {
  rowOf,
  SES_ROWS,
  sesRowOf,
  SMTP_ROWS,
  type AnsweredPart,
  type Meaning,
  type SesRow,
} from "./answers.ts";

type SmtpCase = [answer: string, meaning: Meaning, part?: AnsweredPart, recipients?: number];

/** In the order of the table, the example of each row first. */
const SMTP_CASES: readonly SmtpCase[] = [
  ["421 4.7.28 unusual rate of mail", "throttled"],
  ["454 4.7.0 Daily quota exceeded", "throttled", "message"],
  ["530 5.7.0 Must issue a STARTTLS command first", "unavailable", "mail"],
  ["534 5.7.9 Authentication mechanism is too weak", "unavailable", "mail"],
  ["535 5.7.8 Authentication credentials invalid", "unavailable", "mail"],
  ["538 5.7.11 Encryption required", "unavailable", "mail"],
  ["550 5.4.5 Daily user sending limit exceeded", "throttled", "message"],
  ["450 4.7.1 Greylisted", "throttled"],
  ["451 4.3.0 Mail server temporarily rejected message", "throttled"],
  ["452 4.2.2 The email account is over quota", "temporary"],
  ["553 5.1.7 The sender's address is malformed", "policy", "mail"],
  ["550 5.1.8 The sender's domain does not exist", "policy"],
  ["550 5.1.4 Ambiguous address", "soft-bounce"],
  ["551 5.1.9 Relayed to a mailer that cannot tell", "soft-bounce"],
  ["550 5.1.1 No such user", "hard-bounce"],
  ["550 5.2.1 The user is receiving mail too quickly", "soft-bounce"],
  ["550 5.2.1 The account is disabled", "hard-bounce"],
  ["552 5.2.3 Longer than this mailbox takes", "message"],
  ["552 5.2.2 Mailbox full", "soft-bounce"],
  ["554 5.3.3 A feature is not supported", "message"],
  ["552 5.3.4 Message too big for system", "message", "mail"],
  ["554 5.3.2 System not accepting messages", "soft-bounce"],
  ["550 5.4.1 Recipient address rejected: Access denied", "hard-bounce"],
  ["550 5.4.4 Host not found", "hard-bounce"],
  ["550 5.4.310 DNS domain does not exist", "hard-bounce"],
  ["554 5.4.6 Mail loop", "soft-bounce"],
  ["501 5.5.4 Invalid arguments", "policy"],
  ["553 5.6.7 Non-ASCII addresses not permitted", "message"],
  ["550 5.7.515 Access denied, sending domain does not meet the level", "policy"],
  ["550 Service unavailable, client host blocked using a list", "policy"],
  ["550 No such user here", "hard-bounce"],
  ["551 User not local", "hard-bounce"],
  ["553 Mailbox name not allowed", "hard-bounce"],
  ["556 Domain does not accept mail", "hard-bounce"],
  ["552 Exceeded storage allocation", "soft-bounce"],
  ["552 Too much mail data", "message", "message"],
  ["554 Transaction failed", "policy", "message"],
];

function rowFor([answer, , part = "rcpt", recipients = 1]: SmtpCase) {
  return rowOf({ code: Number(answer.slice(0, 3)), text: answer.slice(4), part, recipients });
}

test.each(SMTP_CASES)("%s → %s", (...one) => {
  expect(rowFor(one).meaning).toBe(one[1]);
});

test("every row of the table is the one that decides its own example", () => {
  expect(SMTP_CASES.map((one) => SMTP_ROWS.indexOf(rowFor(one)))).toEqual([...SMTP_ROWS.keys()]);
});

test.each<SmtpCase>([
  // The rest of facts of the same kind.
  ["550 5.1.2 Bad destination system", "hard-bounce"],
  ["550 5.1.3 Bad destination mailbox address syntax", "hard-bounce"],
  ["550 5.1.6 Mailbox has moved", "hard-bounce"],
  ["556 5.1.10 Recipient address has null MX", "hard-bounce"],
  ["550 5.1.0 Address rejected", "hard-bounce"],
  ["552 5.2.4 Mailing list expansion", "soft-bounce"],
  ["550 5.4.1 No answer from host", "soft-bounce"],
  ["554 5.7.1 Relay access denied", "policy"],
  ["550 5.7.26 This message does not pass DMARC evaluation", "policy"],
  ["554 5.7.9 Message not accepted for policy reasons", "policy"],
  ["501 Syntax error in parameters", "policy"],
  ["503 Bad sequence of commands", "policy"],
  ["450 4.2.1 The user is receiving mail too quickly", "temporary"],
  ["452 4.5.3 Too many recipients", "temporary"],
  ["450 Mailbox busy", "temporary"],
  ["421 4.4.5 Server busy", "throttled"],
  ["451 4.4.5 Server busy", "throttled"],
  // What does not say whom it is about, or says it to the wrong command.
  ["550 5.1.1 No such sender", "policy", "mail"],
  ["550 5.2.2 Over quota", "policy", "mail"],
  ["550 5.1.1 User unknown", "hard-bounce", "message", 1],
  ["550 5.1.1 User unknown", "policy", "message", 2],
  ["550 5.2.2 Mailbox full", "policy", "message", 2],
  ["550 Rejected", "policy", "message", 1],
  // A code that says nothing, one that is none, and one of another class than the reply: the reply's digits count.
  ["550 5.0.0 No such user", "hard-bounce"],
  ["550 5.1.1.1 is not a code", "hard-bounce"],
  ["550 4.1.1 No such user", "hard-bounce"],
  ["450 5.1.1 No such user", "temporary"],
  ["550 requested action 5.2.2", "hard-bounce"],
  // Words of policy decide only where no code does.
  ["550 5.1.1 blocked or unknown", "hard-bounce"],
  ["550 message rejected due to spam content", "policy"],
  ["550 relaying denied", "policy"],
  ["550 SPF check failed", "policy"],
  ["553 sorry, that domain isn't in my list (not authorised)", "policy"],
])("%s → %s (%s, %s)", (...one) => {
  expect(rowFor(one).meaning).toBe(one[1]);
});

test("only what is about us lets another transport try at once", () => {
  expect(SMTP_ROWS.filter(({ outage }) => outage).map(({ code, status = "" }) => code + status)).toEqual([
    "421",
    "454",
    "530",
    "534",
    "535",
    "538",
    "xxxX.4.5",
  ]);
});

test("every code from 400 to 599 means something, whatever stands behind it; other codes are no refusals", () => {
  for (let code = 400; code < 600; code++) {
    for (const text of ["", "x", "4.0.0", "5.999.999 x", "9.1.1 x"]) {
      for (const part of ["mail", "rcpt", "message"] as const) {
        const { meaning } = rowOf({ code, text, part, recipients: 1 });
        const isRetried = ["temporary", "throttled", "unavailable"].includes(meaning);
        expect(isRetried).toBe(code < 500 || [530, 534, 535, 538].includes(code));
      }
    }
  }
  expect(() => rowOf({ code: 354, text: "", part: "rcpt", recipients: 1 })).toThrow("354");
});

type SesCase = [status: number, name: string, meaning: SesRow["meaning"]];

const SES_CASES: readonly SesCase[] = [
  [200, "", "uncertain"],
  [429, "TooManyRequestsException", "throttled"],
  [400, "MessageRejected", "policy"],
  [400, "BadRequestException", "message"],
  [413, "", "message"],
  [302, "", "unavailable"],
  [400, "AccountSuspendedException", "unavailable"],
  [503, "", "unavailable"],
  [502, "", "uncertain"],
  [500, "InternalFailure", "unavailable"],
];

test.each(SES_CASES)("SES: %i %s → %s", (status, name, meaning) => {
  expect(sesRowOf(status, name).meaning).toBe(meaning);
});

test("every row of SES is the one that decides its own example", () => {
  expect(SES_CASES.map(([status, name]) => SES_ROWS.indexOf(sesRowOf(status, name)))).toEqual([
    ...SES_ROWS.keys(),
  ]);
});

test.each<SesCase>([
  [400, "ThrottlingException", "throttled"],
  [400, "LimitExceededException", "throttled"],
  [400, "MailFromDomainNotVerifiedException", "policy"],
  [400, "ValidationException", "message"],
  [400, "InvalidParameterValueException", "message"],
  [400, "SerializationException", "message"],
  [400, "SendingPausedException", "unavailable"],
  [403, "InvalidSignatureException", "unavailable"],
  [404, "NotFoundException", "unavailable"],
  [500, "", "uncertain"],
  [504, "", "uncertain"],
  [503, "ServiceUnavailable", "unavailable"],
])("SES: %i %s → %s", (status, name, meaning) => {
  expect(sesRowOf(status, name).meaning).toBe(meaning);
});

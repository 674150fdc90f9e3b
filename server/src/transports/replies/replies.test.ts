// Tests that each row of the classification table matches its sample, and that replies of large providers are classified correctly.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CAUSES } from "./reply-causes.ts";
import { REJECTION_ROWS } from "./reply-rows.ts";
import {
  DOOR_ROWS,
  classify,
  classifyEnd,
  SES_ROWS,
  sesRowOf,
  type RepliedPart,
  type Cause,
  type Category,
  type SesRow,
} from "./replies.ts";
import { leastCpuMs } from "../../testing/cpu-timer.ts";

type SmtpCase = [answer: string, meaning: Category, part?: RepliedPart, recipients?: number];

const replyOf = (reply: string, part: RepliedPart = "rcpt", recipients = 1) => ({
  code: Number(reply.slice(0, 3)),
  text: reply.slice(4),
  part,
  recipients,
});

test.each(REJECTION_ROWS.map((row) => [row.sample, row.cause, row] as const))(
  "classifies %s as %s",
  (_, __, row) => {
    const hosts = row.sampleHost === undefined ? [] : [row.sampleHost];
    expect(classifyEnd({ ...replyOf(row.sample, row.samplePart), hosts }).row).toBe(row);
  },
);

test.each(DOOR_ROWS.map((row) => [row.sample, row.meaning, row] as const))(
  "classifies the temporary reply %s as %s",
  (_, __, row) => {
    const { code, status = "", meaning, outage } = row;
    const { meaning: found, outage: foundOutage } = classify(replyOf(row.sample, row.samplePart));
    expect({ meaning: found, outage: foundOutage }).toEqual({ meaning, outage });
    // No earlier row matches the sample.
    const first = DOOR_ROWS.find((one) => one.code === code && (one.status ?? "") === status);
    expect(first).toBe(row);
  },
);

test("every row names its source and every cause has advice", () => {
  for (const { source, sample } of [...REJECTION_ROWS, ...DOOR_ROWS])
    expect([source.length, sample.length].every((length) => length > 3)).toBe(true);
  for (const { says, advice } of Object.values(CAUSES)) expect(`${says}${advice}`).toMatch(/\.$/);
});

/** Replies about us never unsubscribe a contact, regardless of their code. */
test.each<[answer: string, cause: Cause, part?: RepliedPart]>([
  ["550 5.1.1 Sender verify failed", "sender-refused"],
  ["550 Sender verify failed", "sender-refused"],
  ["550 5.1.0 Sender rejected", "sender-refused"],
  ["550 5.1.8 Sender address rejected: Domain not found", "sender-refused"],
  ["553 5.1.8 example.org: Domain not found", "sender-refused"],
  ["550 5.1.8 no MX record found for domain example.org", "sender-refused"],
  ["550 5.7.1 Your domain has no MX record", "sender-refused"],
  [
    "550 5.7.26 This mail has been blocked because the sender is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM.",
    "authentication",
  ],
  ["550 5.1.0 <me@shop.example> sender rejected", "sender-refused", "mail"],
  ["550 Verification failed for <me@shop.example>: no such user", "sender-refused"],
  ["553 5.1.8 Domain of sender address does not exist", "sender-refused"],
  ["550 Administrative prohibition", "policy"],
  ["550 5.1.1 Our policy forbids this", "policy"],
  ["550 5.7.1 Service unavailable, client host [192.0.2.1] blocked using a list", "reputation"],
  ["550 5.1.1 192.0.2.1 is listed at zen.spamhaus.org", "reputation"],
  ["553 5.1.3 http://www.spamhaus.org/query/bl?ip=192.0.2.1", "reputation"],
  ["550 5.7.606 Access denied, banned sending IP [192.0.2.1]", "reputation"],
  ["554 5.7.1 [HM08] Message rejected due to local policy", "policy"],
  ["550 IP address blocked, see our page", "reputation"],
  [
    "554 Your access to this mail system has been rejected due to the sending MTA's poor reputation",
    "reputation",
  ],
  ["550 5.7.25 The IP address sending this message does not have a PTR record", "reverse-dns"],
  ["550 Reverse DNS lookup for host 192.0.2.1 failed permanently", "reverse-dns"],
  ["450 4.7.25 Client host rejected: cannot find your hostname", "reverse-dns"],
  ["504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname", "reverse-dns"],
  ["550 5.7.26 This mail is unauthenticated", "authentication"],
  ["550 SPF check failed", "authentication"],
  ["550 5.1.1 Too many recipients this hour", "rate"],
  ["550 Daily sending quota exceeded", "rate"],
  ["552 5.2.2 Message rate limit exceeded, try later", "rate"],
  ["550 5.4.5 Daily user sending limit exceeded", "rate"],
  ["554 5.7.1 Relay access denied", "relaying"],
  ["550 5.7.54 Unable to relay recipient in non-accepted domain", "relaying"],
  ["554 5.7.1 This message looks like spam", "content"],
  ["550 5.0.0", "not-told"],
])("classifies %s as about us: %s", (reply, cause, part) => {
  const classified = classifyEnd(replyOf(reply, part));
  expect(classified.cause).toBe(cause);
  expect(classified.meaning).not.toBe("hard-bounce");
});

/** Replies that the mailbox is gone are recognized regardless of their code. */
test.each([
  "550 5.1.1 The email account that you tried to reach does not exist",
  "550 5.5.0 Requested action not taken: mailbox unavailable",
  "550 5.5.0 mailbox unavailable",
  "554 delivery error: This user doesn't have a yahoo.com account (ada@yahoo.com) [0]",
  "552 1 Requested mail action aborted, mailbox not found",
  "550 5.7.1 User unknown in relay recipient table",
  "550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table",
  "550 5.4.1 Recipient address rejected: Access denied",
  "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
  "550 No such recipient here",
  "550 Unknown local part ada in <ada@example.com>",
  "550 unrouteable address",
  "553 sorry, no mailbox here by that name",
  "554 5.1.1 invalid recipient",
  "550 Mailbox not found",
  "550 non-local user: no such person at this address",
  "550 Benutzer existiert nicht",
  "550 5.1.1 Empfänger unbekannt",
  "550 Dieses Postfach ist nicht vorhanden",
  "550 Utilisateur inconnu",
  "550 Cette adresse n'existe pas",
  "550 Le destinataire est invalide",
  "550 El usuario no existe",
  "550 Buzón no encontrado",
  "550 Destinatario desconocido",
  "550 Utente sconosciuto",
  "550 La casella non esiste",
  "550 Destinatario non valido",
  "550 Usuário desconhecido",
  "550 A conta não existe",
  "550 Endereço inválido",
  "550 宛先不明です",
  "550 ユーザーは存在しません",
  "550 メールアドレスが見つかりません",
  "550 Пользователь не найден",
  "550 Нет такого пользователя",
  "550 Почтовый ящик не существует",
])("classifies %s as a missing mailbox", (reply) => {
  expect(classify(replyOf(reply)).meaning).toBe("hard-bounce");
});

test.each<[answer: string, cause: Cause]>([
  ["552 5.2.2 Mailbox full", "mailbox-full"],
  ["550 Das Postfach ist voll", "mailbox-full"],
  ["550 La boîte est pleine", "mailbox-full"],
  ["550 Buzón lleno", "mailbox-full"],
  ["550 La casella è piena", "mailbox-full"],
  ["550 A caixa postal está cheia", "mailbox-full"],
  ["550 メールボックスがいっぱいです", "mailbox-full"],
  ["550 Почтовый ящик переполнен", "mailbox-full"],
  ["550 5.2.1 The email account that you tried to reach is disabled", "mailbox-closed"],
  ["554 5.2.1 Mailbox disabled", "mailbox-closed"],
  ["552 5.3.4 Message size exceeds fixed limit", "too-large"],
])("finds the cause of %s: %s", (reply, cause) => {
  expect(classifyEnd(replyOf(reply)).cause).toBe(cause);
});

test("names the provider from the wording or the host", () => {
  expect(classify(replyOf("550 5.1.1 no such account - gsmtp")).speaker).toBe("Gmail");
  expect(classify({ ...replyOf("550 no"), hosts: ["mta5.am0.yahoodns.net"] }).speaker).toBe("Yahoo");
  expect(classify(replyOf("550 no")).speaker).toBeNull();
});

test("applies a reply only to the recipient it refers to", () => {
  expect(classify(replyOf("550 5.1.1 User unknown", "message", 2)).meaning).toBe("policy");
  expect(classify(replyOf("550 No such user here", "mail")).meaning).toBe("policy");
});

test("classifies text of any length in a moment", async () => {
  const bombs = ["user ", "mailbox is ", "a@", "<", "is not ", "5.1.1 ", "550 ", "sender ", "quota ", ": "];
  const classifyAll = () => {
    for (const bomb of bombs)
      classifyEnd({ code: 550, text: bomb.repeat(100_000), part: "rcpt", recipients: 1 });
  };
  expect(await leastCpuMs(1_000, classifyAll)).toBeLessThan(1_000);
  fc.assert(
    fc.property(fc.string(), (text) => void classify({ code: 550, text, part: "rcpt", recipients: 1 })),
  );
});

function rowFor([reply, , part = "rcpt", recipients = 1]: SmtpCase) {
  return classify(replyOf(reply, part, recipients));
}

test.each<SmtpCase>([
  // The remaining facts of the same kind.
  ["550 5.1.2 Bad destination system", "hard-bounce"],
  ["550 5.1.3 Bad destination mailbox address syntax", "hard-bounce"],
  ["550 5.1.6 Mailbox has moved", "hard-bounce"],
  ["556 5.1.10 Recipient address has null MX", "hard-bounce"],
  ["550 5.1.0 Address rejected", "soft-bounce"],
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
  // Replies without a recipient, or to the wrong command.
  ["550 5.1.1 No such sender", "policy", "mail"],
  ["550 5.2.2 Over quota", "policy", "mail"],
  ["550 5.1.1 User unknown", "hard-bounce", "message", 1],
  ["550 5.1.1 User unknown", "policy", "message", 2],
  ["550 5.2.2 Mailbox full", "policy", "message", 2],
  ["550 Rejected", "policy", "message", 1],
  // Enhanced codes without information, invalid ones, and ones of another class than the reply. The reply's digits count.
  ["550 5.0.0 No such user", "hard-bounce"],
  ["550 5.1.1.1 is not a code", "soft-bounce"],
  ["550 4.1.1 No such user", "hard-bounce"],
  ["450 5.1.1 No such user", "temporary"],
  ["550 requested action 5.2.2", "soft-bounce"],
  // Policy wording counts only without a conclusive code.
  ["550 5.1.1 blocked or unknown", "hard-bounce"],
  ["550 message rejected due to spam content", "policy"],
  ["550 relaying denied", "policy"],
  ["550 SPF check failed", "policy"],
  ["553 sorry, that domain isn't in my list (not authorised)", "policy"],
])("classifies %s → %s (%s, %s)", (...one) => {
  expect(rowFor(one).meaning).toBe(one[1]);
});

test("lets another transport try immediately only after replies about us", () => {
  expect(DOOR_ROWS.filter(({ outage }) => outage).map(({ code, status = "" }) => code + status)).toEqual([
    "421",
    "454",
    "530",
    "534",
    "535",
    "538",
    "xxxX.4.5",
  ]);
});

test("classifies every code from 400 to 599 with any text and rejects other codes", () => {
  for (let code = 400; code < 600; code++) {
    for (const text of ["", "x", "4.0.0", "5.999.999 x", "9.1.1 x"]) {
      for (const part of ["mail", "rcpt", "message"] as const) {
        const { meaning } = classify({ code, text, part, recipients: 1 });
        const isRetried = ["temporary", "throttled", "unavailable"].includes(meaning);
        expect(isRetried).toBe(code < 500 || [530, 534, 535, 538].includes(code));
      }
    }
  }
  expect(() => classify({ code: 354, text: "", part: "rcpt", recipients: 1 })).toThrow("354");
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

test.each(SES_CASES)("classifies SES status %i with error %s as %s", (status, name, category) => {
  expect(sesRowOf(status, name).meaning).toBe(category);
});

test("every SES row matches its own example", () => {
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
])("matches the SES example %i %s → %s", (status, name, category) => {
  expect(sesRowOf(status, name).meaning).toBe(category);
});

// Checks that reports for people, in the wording of known servers, are classified correctly and that unreadable ones are kept.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { createReturnPaths } from "./return-path.ts";
import { readReturnedMessage } from "./returned-message.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const returnPaths = createReturnPaths("a secret that is long enough");
const recipient = `${returnPaths.localPartOf(newId(), newId())}@bounce.example`;

interface Report {
  from?: string;
  subject?: string;
  headers?: readonly string[];
  type?: string;
  sender?: string;
}

async function read(text: string, { from, subject, headers = [], type, sender = "" }: Report = {}) {
  const raw = Buffer.from(
    [
      `From: ${from ?? "MAILER-DAEMON@mx.example.net"}`,
      `Subject: ${subject ?? "failure notice"}`,
      `Content-Type: ${type ?? "text/plain; charset=utf-8"}`,
      ...headers,
      "",
      text,
    ].join("\r\n"),
  );
  return readReturnedMessage(raw, { sender, recipient }, { returnPaths, ownDomains: ["bounce.example"] });
}

async function kindsOf(text: string, report?: Report) {
  const reading = await read(text, report);
  return reading.kind === "reports" ? reading.reports.map(({ kind, data }) => [kind, data["cause"]]) : [];
}

const QMAIL =
  "Hi. This is the qmail-send program at mx.example.net.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n";
const EXIM =
  "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ada@example.com\n";
const ORIGINAL =
  "\n\n--- Below this line is a copy of the message.\n\nReceived: from shop.example\nSubject: our quota of spam: user unknown\n\nHello\n";

test.each<[server: string, text: string, kind: string, cause: string | undefined, report?: Report]>([
  [
    "qmail",
    `${QMAIL}<ada@example.com>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 nobody: no such user\nGiving up on 192.0.2.1.`,
    "hard-bounce",
    "unknown-user",
  ],
  [
    "qmail",
    `${QMAIL}<ada@example.com>:\nSorry, no mailbox here by that name. (#5.1.1)`,
    "hard-bounce",
    "unknown-user",
  ],
  [
    "qmail",
    `${QMAIL}<ada@example.com>:\nSorry, I couldn't find any host named example.com. (#5.1.2)`,
    "hard-bounce",
    "no-such-domain",
  ],
  [
    "qmail",
    `${QMAIL}<ada@example.com>:\nUser and password not set, continuing without authentication.\n192.0.2.1 failed after I sent the message.\nRemote host said: 554 5.7.1 this looks like spam`,
    "refused",
    "content",
  ],
  [
    "qmail",
    `${QMAIL}<ada@example.com>:\nConnected to 192.0.2.1 but sender was rejected.\nRemote host said: 550 5.1.1 no such user`,
    "refused",
    "sender-refused",
  ],
  [
    "Exim",
    `${EXIM}    host mx.example.com [192.0.2.1]\n    SMTP error from remote mail server after RCPT TO:<ada@example.com>:\n    550 5.1.1 User unknown`,
    "hard-bounce",
    "unknown-user",
  ],
  ["Exim", `${EXIM}    Unrouteable address`, "hard-bounce", "no-such-domain"],
  ["Exim", `${EXIM}    mailbox is full: retry timeout exceeded`, "soft-bounce", "mailbox-full"],
  [
    "Exim",
    `${EXIM}    host mx.example.com [192.0.2.1]\n    SMTP error from remote mail server after MAIL FROM:<me@shop.example>:\n    550 Unroutable sender address`,
    "refused",
    "sender-refused",
  ],
  [
    "Postfix",
    "This is the Postfix program at host mx.example.net.\n\nI'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\n<ada@example.com>: host mx.example.com[192.0.2.1] said: 550 5.1.1\n    <ada@example.com>: Recipient address rejected: User unknown in virtual\n    mailbox table (in reply to RCPT TO command)",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "Postfix",
    "This is the mail system at host mx.example.net.\n\n<ada@example.com>: host mx.example.com[192.0.2.1] said: 554 5.7.1 Service\n    unavailable; Client host [192.0.2.9] blocked using a list (in reply to RCPT TO command)",
    "refused",
    "reputation",
  ],
  [
    "sendmail",
    "   ----- The following addresses had permanent fatal errors -----\n<ada@example.com>\n\n   ----- Transcript of session follows -----\n... while talking to mx.example.com.:\n>>> RCPT To:<ada@example.com>\n<<< 550 user unknown",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "sendmail",
    "   ----- Transcript of session follows -----\n550 elsewhere.example (smtp)... Host unknown (Name server: host not found)\n",
    "hard-bounce",
    "no-such-domain",
  ],
  [
    "OpenSMTPD",
    "    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this e-mail.\n\nada@example.com: 552 5.2.2 over quota\n",
    "soft-bounce",
    "mailbox-full",
  ],
  [
    "OpenSMTPD",
    "    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this e-mail.\n\n    A message is delayed for more than 10 minutes for the following\n    list of recipients:\n\nada@example.com: Network error on destination MXs\n",
    "delayed",
    undefined,
  ],
  [
    "Gmail",
    "Delivery to the following recipient failed permanently:\n\n     ada@example.com\n\nTechnical details of permanent failure: \nGoogle tried to deliver your message, but it was rejected by the recipient domain. The error that the other server returned was: 550 550 5.1.1 user unknown (state 14).",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "Google Groups",
    "We're writing to let you know that the group you tried to contact (friends) may not exist, or you may not have permission to post messages to the group.\nhttps://groups.google.com/support/",
    "soft-bounce",
    "recipient-refuses",
  ],
  [
    "Google Groups",
    "Wir möchten Sie informieren, dass die Gruppe nicht existiert oder Sie dort nicht schreiben dürfen: https://groups.google.com/support/",
    "soft-bounce",
    "recipient-refuses",
  ],
  [
    "Exchange",
    "Your message\n\n  To:      ada@example.com\n\ndid not reach the following recipient(s):\n\nada@example.com on Thu, 9 May 2024 23:34:45 +0200\n    The recipient name is not recognized\n    MSEXCH:IMS:HERE:THERE 0 (000C05A6) Unknown Recipient",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "Domino",
    "Your message\n\n  Subject: News\n\nwas not delivered to:\n\n  ada@example.com\n\nbecause:\n\n  User ada (ada@example.com) not listed in Domino Directory\n",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "Yahoo",
    "Sorry, we were unable to deliver your message to the following address.\n\n<ada@example.com>:\nRemote host said:\n550 5.2.1 <ada@example.com>... User unknown\n[RCPT_TO]",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "Zoho",
    "This message was created automatically by mail delivery software.\n\nada@example.com Invalid Address, ERROR_CODE :550, ERROR_CODE :5.2.2 the mailbox is full",
    "soft-bounce",
    "mailbox-full",
  ],
  [
    "mail.ru",
    `Это письмо создано автоматически сервером Mail.Ru, отвечать на него не нужно.\n\n${EXIM}    SMTP error from remote mail server after RCPT TO:<ada@example.com>:\n    host mx.example.com [192.0.2.1]: 550 5.1.1 no such user`,
    "hard-bounce",
    "unknown-user",
  ],
  [
    "GMX",
    'This message was created automatically by mail delivery software.\n\n"ada@example.com":\nSMTP error from remote server after RCPT command:\nhost: mx.example.com\n5.2.2 the mailbox is full',
    "soft-bounce",
    "mailbox-full",
  ],
  [
    "IMail",
    "Unknown user: ada@example.com\n\nOriginal message follows.\n",
    "hard-bounce",
    "unknown-user",
    { subject: "Undeliverable Mail" },
  ],
  [
    "DragonFly",
    "This is the DragonFly Mail Agent v0.13 at here.example.\n\nThere was an error delivering your mail to <ada@example.com>.\n\nmx.example.com [192.0.2.1] did not like our RCPT TO:\n550 5.1.1 unknown user",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "an unknown server",
    "Something about ada@example.com: the user is unknown, we believe.",
    "soft-bounce",
    "unknown-user",
  ],
  ["an unknown server", "Your message went wrong.", "soft-bounce", "not-told"],
  [
    "an unknown server, with a reply",
    "We tried ada@example.com and were told: 550 5.1.1 no such user",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "an unknown server, with a reply on a separate line",
    "We tried ada@example.com.\n\n> 550 no such user",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "an unknown server, with a reply that is quoted",
    "ada@example.com: the other server said: 550 no such user",
    "hard-bounce",
    "unknown-user",
  ],
  [
    "an unknown server, with a phone number",
    "Our office has moved. Call us at 415-555-0100.",
    "soft-bounce",
    "moved",
  ],
  [
    "an unknown server, with the same on a separate line",
    "Our office has moved. Call us:\n415-555-0100",
    "soft-bounce",
    "moved",
  ],
  [
    "an unknown server, with a street",
    "Our office has moved to\n500 Market Street,\nwhich is an office we moved to",
    "soft-bounce",
    "moved",
  ],
  [
    "Mimecast",
    "An email that you attempted to send to the following address could not be delivered:\n\nada@example.com\n\nAdditional information follows:\n5.4.1 Recipient address rejected: Access denied. [x.prod.outlook.com]",
    "hard-bounce",
    "unknown-user",
  ],
])("%s: %s", async (_, text, kind, cause, report) => {
  expect(await kindsOf(`${text}${ORIGINAL}`, report)).toEqual([[kind, cause]]);
});

test("reads a separate outcome for each of several recipients", async () => {
  const text = `${QMAIL}<ada@example.com>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 5.1.1 no such user\n\n<bob@example.com>:\n192.0.2.1 does not like recipient.\nRemote host said: 552 5.2.2 mailbox full`;
  const reading = await read(text);
  expect(reading).toMatchObject({
    reports: [
      { kind: "hard-bounce", recipients: ["ada@example.com"] },
      { kind: "soft-bounce", recipients: ["bob@example.com"] },
    ],
  });
});

test("reads fields in the text or in a part of the wrong type", async () => {
  const fields =
    "Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 the mailbox\n is full\n";
  expect(await kindsOf(`Technical report:\n\n${fields}`)).toEqual([["soft-bounce", "mailbox-full"]]);
  const part = `--x\r\nContent-Type: text/plain\r\n\r\nIt failed.\r\n--x\r\nContent-Type: text/plain; name=report.txt\r\nContent-Disposition: attachment\r\n\r\n${fields}\r\n--x--`;
  expect(await kindsOf(part, { headers: ["Content-Type: multipart/mixed; boundary=x"] })).toEqual([
    ["soft-bounce", "mailbox-full"],
  ]);
  // A header that names another boundary.
  const broken = part.replaceAll("--x", "--y");
  expect(await kindsOf(broken, { headers: ["Content-Type: multipart/report; boundary=x"] })).toEqual([
    ["soft-bounce", "mailbox-full"],
  ]);
});

test.each<[what: string, report: Report]>([
  ["Auto-Submitted", { from: "ada@example.com", headers: ["Auto-Submitted: auto-replied"] }],
  ["a telling subject", { from: "ada@example.com", subject: "Automatic reply: News" }],
  ["the same in German", { from: "ada@example.com", subject: "Abwesenheitsnotiz: News" }],
  ["the same from mail@", { from: "mail@example.com", headers: ["Auto-Submitted: auto-replied"] }],
  [
    "the same from a name that begins with Mail",
    { from: "Mail Boxes Etc <shop@example.com>", headers: ["Auto-Submitted: auto-replied"] },
  ],
  ["X-Autoreply", { from: "ada@example.com", headers: ["X-Autoreply: yes"] }],
])("ignores an automatic reply by %s", async (_, report) => {
  expect(await read("I am away. The user is unknown to me. 550 5.1.1", report)).toMatchObject({
    kind: "ignored",
  });
});

test.each([
  "Automatic reply: News",
  "Automatische Antwort: News",
  "Automatisch antwoord: News",
  "Automatiskt svar: News",
  "Automatisk svar: News",
  "Réponse automatique : News",
  "Réponse automatique : News".normalize("NFD"),
  "Respuesta automática: News",
  "Risposta automatica: News",
  "Resposta automática: News",
  "Odpowiedź automatyczna: News",
  "Automatyczna odpowiedź: News",
  "Automatická odpověď: News",
  "Automaattinen vastaus: News",
  "Automatikus válasz: News",
  "Răspuns automat: News",
  "Otomatik yanıt: News",
  "Автоматический ответ: News",
  "自動応答: News",
  "Re: AW: Automatische Antwort: News",
])("recognizes automatic replies in other languages: %s", async (subject) => {
  expect(await read("Until Monday.", { from: "ada@example.com", subject })).toMatchObject({
    kind: "ignored",
  });
});

test("recognizes Exchange's automatic replies by their headers, but not its reports", async () => {
  const headers = ["Auto-Submitted: auto-generated", "X-Auto-Response-Suppress: All"];
  const subject = "Ada ei ole paikalla";
  const away = { from: "ada@example.com", subject, headers };
  expect(await read("Until Monday.", away)).toMatchObject({ kind: "ignored" });
  const failed = "It failed: 550 5.1.1 no such user";
  expect(await kindsOf(failed, { ...away, from: "postmaster@example.com" })).toEqual([
    ["hard-bounce", "unknown-user"],
  ]);
  const parts = `--x\r\nContent-Type: text/plain\r\n\r\n${failed}\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: News\r\n\r\nHello\r\n--x--`;
  expect(await kindsOf(parts, { ...away, type: "multipart/mixed; boundary=x" })).toEqual([
    ["hard-bounce", "unknown-user"],
  ]);
  expect(await kindsOf(failed, { ...away, headers: headers.slice(0, 1) })).toEqual([
    ["hard-bounce", "unknown-user"],
  ]);
});

test("recognizes a daemon by its address or its whole name", async () => {
  for (const from of [
    "MAILER-DAEMON@mx.example.net",
    "Mailer <noreply@mx.example.net>",
    "Mail <x@example.net>",
  ])
    expect(
      await kindsOf("It failed: 550 5.1.1 no such user", { from, headers: ["Auto-Submitted: auto-replied"] }),
    ).toEqual([["hard-bounce", "unknown-user"]]);
});

test("ignores a person's message to a return path as a bounce", async () => {
  const person = { from: "ada@example.com", subject: "Re: News", sender: "ada@example.com" };
  expect(await read("No such user here! 550 5.1.1", person)).toMatchObject({ kind: "ignored" });
});

test("never throws or takes long for any text", async () => {
  const bombs = [
    "550 ",
    "<a@b.example>\n",
    "a@b.example: ",
    ">>> ",
    "--",
    "user is ",
    "(",
    "5.1.1 ",
    "\n\n",
    "host ",
  ];
  const readAll = async () => {
    for (const bomb of bombs) await read(bomb.repeat(10_000));
  };
  expect(await leastCpuMs(5_000, readAll)).toBeLessThan(5_000);
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => void (await read(text))),
    { numRuns: 100 },
  );
});

// Checks the classification of received messages as reports about an email, messages from people, or messages from machines.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { CAUSES } from "../transports/replies/reply-causes.ts";
import { longestTurn } from "../testing/longest-turn.ts";
import { bounceMail, complaintMail, personalMail } from "../testing/incoming-mail.ts";
import { createReturnPaths } from "./return-path.ts";
import { readReturnedMessage, type Envelope } from "./returned-message.ts";
import { TaskOverLimit } from "../platform/threads/task-thread.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const returnPaths = createReturnPaths("a secret that is long enough");
const ownDomains = ["bounce.example", "in.example"];
const mail = { projectId: newId(), emailId: newId() };
const returnPath = `${returnPaths.localPartOf(mail.projectId, mail.emailId)}@bounce.example`;
const project = `${mail.projectId}@in.example`;
const byPath = { ...mail, providerId: null };
const byId = { ...byPath, projectId: null };
const secret = `${returnPaths.feedbackName}@bounce.example`;

const read = (raw: Buffer, envelope: Partial<Envelope> = {}) =>
  readReturnedMessage(raw, { sender: "", recipient: returnPath, ...envelope }, { returnPaths, ownDomains });
const readPersonal = (raw: Buffer, sender = "ada@example.com") => read(raw, { sender, recipient: project });

test("assigns a bounce to the email by its return path", async () => {
  expect(await read(bounceMail())).toEqual({
    kind: "reports",
    reports: [
      {
        names: byPath,
        recipients: ["ada@example.com"],
        kind: "hard-bounce",
        at: null,
        data: {
          reason: "5.1.1 smtp; 550 5.1.1 user unknown",
          cause: "unknown-user",
          refusedBy: "example.com",
          advice: CAUSES["unknown-user"].advice,
        },
      },
    ],
  });
});

test("ignores a bounce sent to any other address", async () => {
  const raw = bounceMail({
    original: [`Message-ID: <${mail.emailId}@shop.example>`, `Return-Path: <${returnPath}>`],
  });
  for (const recipient of [`b+${"a".repeat(61)}@bounce.example`, "fbl@bounce.example", project])
    expect(await read(raw, { recipient })).toMatchObject({ kind: "ignored" });
});

test.for([
  ["the address it came to", { recipient: returnPath }, {}, byPath],
  ["the envelope sender it names", { recipient: "fbl@bounce.example" }, { mailFrom: returnPath }, byPath],
  [
    "the Return-Path of the included email",
    { recipient: "fbl@bounce.example" },
    { original: [`Return-Path: <${returnPath}>`] },
    byPath,
  ],
  [
    "the signed id in the header of the included email",
    { recipient: "fbl@bounce.example" },
    { original: [`X-Postloft-Id: ${returnPaths.localPartOf(mail.projectId, mail.emailId)}`] },
    byPath,
  ],
  [
    "the Message-ID of the included email, at the secret address",
    { recipient: secret.toUpperCase() },
    { mailFrom: "news@shop.example", original: [`Message-ID: <${mail.emailId}@shop.example>`] },
    byId,
  ],
] as const)("finds the email of a complaint by %s", async ([, envelope, complaint, names]) => {
  expect(await read(complaintMail(complaint), envelope)).toMatchObject({
    kind: "reports",
    reports: [{ names, kind: "complaint", data: { reason: "abuse ExampleLoop/1.0" } }],
  });
});

test("ignores a complaint without proof", async () => {
  const forged = `b+${"a".repeat(61)}@bounce.example`;
  const original = [
    `Return-Path: <${forged}>`,
    `X-Postloft-Id: ${forged}`,
    `Message-ID: <${mail.emailId}@shop.example>`,
  ];
  const raw = complaintMail({ mailFrom: forged, original });
  for (const recipient of ["fbl@bounce.example", "fbl-aaaaaaaaaaaaaaaa@bounce.example", forged, project])
    expect(await read(raw, { recipient })).toMatchObject({ kind: "ignored" });
  expect(await read(raw, { recipient: "abuse@in.example" })).toMatchObject({ kind: "operator" });
});

test("records the beginning of a person's message to a project", async () => {
  const raw = personalMail({
    subject: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=",
    messageId: "x1@example.com",
    text: "a".repeat(5_000),
  });
  expect(await readPersonal(raw)).toEqual({
    kind: "message",
    message: {
      to: { inboundName: mail.projectId },
      from: "ada@example.com",
      header: {
        fromName: "Ada",
        replyTo: null,
        subject: "Grüße",
        messageId: "<x1@example.com>",
        inReplyTo: null,
        references: null,
      },
      data: {
        subject: "Grüße",
        from: "ada@example.com",
        address: `${mail.projectId}@in.example`,
        localPart: mail.projectId,
        messageId: "x1@example.com",
        text: "a".repeat(1_000),
      },
    },
  });
});

test("reads the header of a person's message without NUL characters", async () => {
  const raw = personalMail({
    from: "A\u0000da <ada@example.com>",
    subject: "A \u0000question",
    headers: ["In-Reply-To: \u0000<x0@example.com>", "References: <x0@example.com>\u0000"],
  })
    .toString()
    .replace(/^Message-ID: .*$/m, "Message-ID: \u0000 <x1@example.com>");
  expect(await readPersonal(Buffer.from(raw))).toMatchObject({
    kind: "message",
    message: {
      header: {
        fromName: "Ada",
        subject: "A question",
        messageId: "<x1@example.com>",
        inReplyTo: "<x0@example.com>",
        references: "<x0@example.com>",
      },
      data: { subject: "A question", messageId: "x1@example.com" },
    },
  });
});

test("converts an HTML-only message to text for a project and for the instance admin", async () => {
  const raw = personalMail({
    headers: ["Content-Type: text/html; charset=utf-8"],
    text: "<style>p { color: red }</style><p>Stop sending to me,<br>or I call my&nbsp;lawyer.</p>",
  });
  const text = expect.stringMatching(/^Stop sending to me,\nor I call my\slawyer\.$/);
  expect(await readPersonal(raw)).toMatchObject({ kind: "message", message: { data: { text } } });
  expect(await read(raw, { recipient: "abuse@in.example" })).toMatchObject({
    kind: "operator",
    message: { text },
  });
});

test.for([
  ["the empty sender", personalMail(), ""],
  ["Auto-Submitted", personalMail({ headers: ["Auto-Submitted: auto-replied (vacation)"] })],
  ["Precedence", personalMail({ headers: ["Precedence: bulk"] })],
  ["a mailing list", personalMail({ headers: ["List-Id: <news.example.com>"] })],
  ["X-Autoreply", personalMail({ headers: ["X-Autoreply: yes"] })],
  ["our own domain as sender", personalMail(), "someone@in.example"],
  ["our own domain in From", personalMail({ from: "us@bounce.example" })],
  ["a report", bounceMail(), "mailer-daemon@mx.example.com"],
  ["no From", personalMail({ from: "undisclosed" })],
] as const)("ignores a machine's message to a project: %s", async ([, raw, sender]) => {
  expect(await readPersonal(raw, sender)).toMatchObject({ kind: "ignored" });
});

test("treats Auto-Submitted: no as a person", async () => {
  expect(await readPersonal(personalMail({ headers: ["Auto-Submitted: no"] }))).toMatchObject({
    kind: "message",
  });
});

test("ignores an automatic reply to a bounce address", async () => {
  expect(
    await read(personalMail({ subject: "Out of office", headers: ["Auto-Submitted: auto-replied"] })),
  ).toEqual({
    kind: "ignored",
    why: "no report in it",
  });
});

/** On a busy machine a thread may miss its deadline; the message is then retried (read-notices.ts). */
const unlessLate = (error: unknown) => {
  if (!(error instanceof TaskOverLimit)) throw error;
};

test("never throws or takes long for messages that are cut, mixed or nested", async () => {
  const whole = [bounceMail(), complaintMail({ mailFrom: returnPath }), personalMail()];
  const deep = `Content-Type: multipart/mixed; boundary=a\r\n\r\n${"--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n".repeat(2_000)}`;
  const nested = Buffer.from(`Content-Type: message/rfc822\r\n\r\n`.repeat(5_000));
  const headers = Buffer.from(`X: ${"a".repeat(500)}\r\n`.repeat(2_000));
  const addresses = Buffer.from(`From: ${"a@b.example,(((<".repeat(10_000)}\r\n\r\n`);
  const readAll = async () => {
    for (const raw of [
      Buffer.alloc(0),
      Buffer.from(deep),
      nested,
      headers,
      addresses,
      Buffer.alloc(200_000, "\u0000"),
    ])
      for (const recipient of [returnPath, project])
        await read(raw, { recipient, sender: "a@b.example" }).catch(unlessLate);
  };
  expect(await leastCpuMs(5_000, readAll)).toBeLessThan(5_000);
  const mutated = fc.tuple(
    fc.constantFrom(...whole),
    fc.nat(2_000),
    fc.nat(200),
    fc.uint8Array({ maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(
      mutated,
      fc.constantFrom(returnPath, project),
      async ([raw, at, length, bytes], recipient) => {
        const broken = Buffer.concat([raw.subarray(0, at), bytes, raw.subarray(at + length)]);
        const reading = await read(broken, { recipient, sender: "ada@example.com" });
        expect(JSON.stringify(reading)).not.toContain("\\u0000");
      },
    ),
    { numRuns: 300 },
  );
});

const KEPT = 512 * 1024;
const headed = (type: string, body: string) => Buffer.from(`Content-Type: ${type}\r\n\r\n${body}`);

test.for([
  ["empty lines", headed("text/plain", "\n".repeat(KEPT))],
  ["empty lines of HTML", headed("text/html", "\r\n \r\n ".repeat(KEPT / 6))],
  ["lines that flow", headed("text/plain; format=flowed", "a \r\n".repeat(KEPT / 4))],
  ["parts", headed("multipart/mixed; boundary=b", "--b\r\n\r\n".repeat(KEPT / 7))],
  ["recipients", Buffer.from(`To: ${"a,".repeat(KEPT / 2)}\r\n\r\nx`)],
  ["tags", headed("text/html", "<a href=".repeat(KEPT / 8))],
] as const)("a stranger's message with very many %s delays no others", async ([, raw]) => {
  const reading = () => read(raw).catch(unlessLate);
  const turnsMs = [await longestTurn(reading), await longestTurn(reading)];
  expect(Math.min(...turnsMs)).toBeLessThan(60);
});

test("reads a bounce that includes an email with very many lines", async () => {
  const original = ["Subject: Hello", "", ...Array.from({ length: 50_000 }, () => "x")];
  expect(await read(bounceMail({ original }))).toMatchObject({
    kind: "reports",
    reports: [{ kind: "hard-bounce", recipients: ["ada@example.com"] }],
  });
});

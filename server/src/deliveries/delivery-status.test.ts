// Checks that delivery status notifications and feedback reports from real servers are classified correctly.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readDeliveryStatus, readFeedbackReport, readFieldGroups } from "./delivery-status.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const head = "Reporting-MTA: dns; mx.example.com\r\nArrival-Date: Tue, 3 Feb 2026 04:05:06 +0000\r\n\r\n";
const status = (...fields: string[]) =>
  `${head}Final-Recipient: rfc822; ada@example.com\r\n${fields.join("\r\n")}\r\n`;
const kindOf = (...fields: string[]) => readDeliveryStatus(status(...fields)).map(({ kind }) => kind);

/** Fields of one recipient and their kind; null: ignored. */
const CASES: ReadonlyArray<[string[], string | null]> = [
  [
    ["Action: failed", "Status: 5.1.1", "Diagnostic-Code: smtp; 550 5.1.1 <ada@example.com>: user unknown"],
    "hard-bounce",
  ],
  [["Action: failed", "Status: 5.1.1"], "hard-bounce"],
  [["Action: failed", "Status: 5.1.10"], "hard-bounce"],
  [["Action: failed", "Status: 5.2.1"], "soft-bounce"],
  [["Action: failed", "Status: 5.4.4"], "hard-bounce"],
  [["Action: failed", "Status: 5.0.0", "Diagnostic-Code: smtp; 550 No such user here"], "hard-bounce"],
  [
    ["Action: failed", "Status: 5.0.0", "Diagnostic-Code: smtp; 550-5.1.1 The email account does not exist"],
    "hard-bounce",
  ],
  [["Action: failed (bad destination)", "Status: 5.1.1 (unknown)"], "hard-bounce"],
  [["ACTION: FAILED", "STATUS: 5.1.1"], "hard-bounce"],
  // The server's words outrank a status derived from them.
  [["Action: failed", "Status: 5.1.1", "Diagnostic-Code: smtp; 552 5.2.2 mailbox full"], "soft-bounce"],
  [["Action: failed", "Status: 5.2.2"], "soft-bounce"],
  [["Action: failed", "Status: 4.4.7", "Diagnostic-Code: smtp; 451 4.7.1 try later"], "refused"],
  [["Action: failed", "Status: 4.4.7"], "soft-bounce"],
  [["Action: failed"], "soft-bounce"],
  [["Action: failed", "Status: nonsense", "Diagnostic-Code: X-Postfix; host not found"], "hard-bounce"],
  [["Action: failed", "Status: 2.0.0"], "soft-bounce"],
  // About our sender or the message.
  [["Action: failed", "Status: 5.7.1", "Diagnostic-Code: smtp; 550 5.7.1 blocked"], "refused"],
  [["Action: failed", "Status: 5.7.26"], "refused"],
  [["Action: failed", "Status: 5.3.4"], "refused"],
  [["Action: failed", "Status: 5.0.0", "Diagnostic-Code: smtp; 550 message looks like spam"], "refused"],
  [["Action: delayed", "Status: 4.4.1"], "delayed"],
  [["Action: delivered", "Status: 2.1.5"], "delivered"],
  [["Action: relayed", "Status: 2.1.9"], null],
  [["Action: expanded", "Status: 2.0.0"], null],
  [["Status: 5.1.1"], null],
];

test.for(CASES)("reads %j as %s", ([fields, kind]) => {
  expect(kindOf(...fields)).toEqual(kind === null ? [] : [kind]);
});

test("tells several recipients apart by the address the email was sent to", () => {
  const text = `${head}Original-Recipient: rfc822;Ada@Example.com\r\nFinal-Recipient: rfc822; forwarded@elsewhere.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n\r\nFinal-Recipient: LOCAL; <bob@example.com>\r\nAction: delayed\r\n`;
  expect(readDeliveryStatus(text)).toEqual([
    {
      recipient: "Ada@Example.com",
      kind: "hard-bounce",
      reason: "5.1.1",
      cause: "unknown-user",
      refusedBy: "example.com",
    },
    { recipient: "bob@example.com", kind: "delayed", reason: null, cause: null, refusedBy: null },
  ]);
});

test("joins folded lines and keeps the server's words as reason", () => {
  const [one] = readDeliveryStatus(
    status("Action: failed", "Status: 5.1.1", "Diagnostic-Code: smtp;", "\t550 5.1.1 no", " such user"),
  );
  expect(one).toMatchObject({ kind: "hard-bounce", reason: "5.1.1 smtp; 550 5.1.1 no such user" });
});

const feedback = (type: string) =>
  `Feedback-Type: ${type}\r\nUser-Agent: SomeGenerator/1.0\r\nVersion: 1\r\nOriginal-Mail-From: <b+token@bounce.example>\r\nOriginal-Rcpt-To: <ada@example.com>\r\n`;

test.for([
  ["abuse", "complaint"],
  ["Fraud", "complaint"],
  ["virus", "complaint"],
  ["other", "complaint"],
  ["not-spam", "not-spam"],
  ["opt-out", "unsubscribed"],
  ["auth-failure", null],
  ["dmarc", null],
  ["constructor", null],
  ["", null],
] as const)("reads feedback of type %j as %s", ([type, kind]) => {
  const reported = readFeedbackReport(feedback(type));
  expect(reported?.kind ?? null).toBe(kind);
  const named = { returnPath: "b+token@bounce.example", recipient: "ada@example.com" };
  expect(reported ?? named).toMatchObject(named);
});

test("never throws or takes long for any text", async () => {
  const bombs = [
    "a".repeat(1_000_000),
    ":".repeat(100_000),
    "a:\n".repeat(100_000),
    "a: b\n\n".repeat(100_000),
    `a: b\n${" c\n".repeat(100_000)}`,
    status("Action: failed", `Diagnostic-Code: smtp; 550 ${"- ".repeat(500_000)}`),
    status("Action: failed", `Final-Recipient: ${"a;".repeat(100_000)}`),
    "__proto__: x\nAction: failed\nStatus: 5.1.1",
  ];
  const readAll = () => {
    for (const text of bombs)
      for (const reading of [readDeliveryStatus, readFeedbackReport, readFieldGroups]) reading(text);
  };
  expect(await leastCpuMs(1_000, readAll)).toBeLessThan(1_000);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString("latin1");
      readDeliveryStatus(status("Action: failed", text));
      readFeedbackReport(text);
    }),
  );
});

// Tests one message over a healthy connection: the MAIL and RCPT commands and the results of rejected recipients.
import { describe, expect, test } from "vitest";
import type { SinkRule } from "../testing/smtp-sink-rules.ts";
import { composeMail, saysYes, useSmtp } from "../testing/smtp-fixture.ts";

const start = useSmtp();
const refuse: SinkRule[] = [
  { phase: "RCPT", recipient: /^full/, action: { reply: "452 4.2.2 mailbox full" } },
  { phase: "RCPT", recipient: /^nobody/, action: { reply: "550 5.1.1 no such user" } },
  { phase: "RCPT", recipient: /^login/, action: { reply: "530 5.7.0 log in first" } },
  { phase: "RCPT", recipient: /^closing/, action: { reply: "421 4.3.2 closing" } },
  { phase: "RCPT", recipient: /^throttled/, action: { reply: "454 4.7.0 too many today" } },
];

describe.each([{ pipelining: true }, { pipelining: false }])(
  "with pipelining $pipelining",
  ({ pipelining }) => {
    const verdicts = [
      { to: ["bob@to.test", "carol@to.test"], kind: "sent", answer: "250 2.0.0 taken" },
      {
        to: ["bob@to.test", "full@to.test"],
        kind: "deferred",
        answer: "RCPT <full@to.test>: 452 4.2.2 mailbox full",
      },
      { to: ["full@to.test", "bob@to.test"], kind: "deferred", answer: "RCPT: 452 4.2.2 mailbox full" },
      {
        to: ["nobody@to.test", "bob@to.test"],
        kind: "rejected",
        answer: "RCPT: 550 5.1.1 no such user",
        meaning: "hard-bounce",
      },
      {
        to: ["nobody@to.test", "full@to.test"],
        kind: "deferred",
        answer: "RCPT <full@to.test>: 452 4.2.2 mailbox full",
      },
      {
        to: ["bob@to.test", "closing@to.test", "carol@to.test"],
        kind: "deferred",
        answer: "RCPT <closing@to.test>: 421 4.3.2 closing",
        throttled: true,
        outage: true,
      },
      {
        to: ["login@to.test"],
        kind: "deferred",
        answer: "RCPT: our login or encryption does not satisfy the server: 530 5.7.0 log in first",
        outage: true,
      },
      {
        to: ["throttled@to.test"],
        kind: "deferred",
        answer: "RCPT: 454 4.7.0 too many today",
        throttled: true,
        outage: true,
      },
    ] as const;

    test.each(verdicts)("sending to $to is $kind", async ({ to, ...outcome }) => {
      const { sink, transport } = await start({ advertise: { pipelining }, rules: refuse });
      expect(await transport.send(composeMail(1, { to }), saysYes)).toEqual(outcome);
      expect(sink.journal).toHaveLength(outcome.kind === "sent" ? 1 : 0);
      expect(sink.bodyByteCount() > 0).toBe(outcome.kind === "sent");
    });

    test("retries a temporarily rejected copy a few times and then sends without it", async () => {
      const { sink, transport } = await start({ advertise: { pipelining }, rules: refuse });
      const mail = composeMail(1, { to: ["bob@to.test", "full@to.test"] });
      const at = async (attempt: number) => transport.send({ ...mail, attempt }, saysYes);
      for (const attempt of [1, 2, 3]) expect(await at(attempt)).toMatchObject({ kind: "deferred" });
      const sent = await at(4);
      expect(sent.kind).toBe("sent");
      expect(sent).toMatchObject({
        answer: expect.stringContaining("full@to.test>: 452 4.2.2 mailbox full"),
      });
      expect(sink.journal).toHaveLength(1);
      const full = composeMail(2, { to: ["full@to.test", "bob@to.test"] });
      expect(await transport.send({ ...full, attempt: 9 }, saysYes)).toMatchObject({ kind: "deferred" });
    });

    test("sends no message when DATA is accepted after a rejected recipient, then reconnects", async () => {
      const { sink, transport } = await start(
        {
          advertise: { pipelining },
          rules: [
            { phase: "RCPT", times: 1, action: { reply: "550 5.1.1 no such user" } },
            { phase: "DATA", times: 1, action: { reply: "354 go ahead" } },
          ],
        },
        { maxConnections: 1 },
      );
      expect(await transport.send(composeMail(1), saysYes)).toMatchObject({ kind: "rejected" });
      expect(await transport.send(composeMail(2), saysYes)).toMatchObject({ kind: "sent" });
      expect(sink.journal).toHaveLength(1);
      expect(sink.connectionCount()).toBe(pipelining ? 2 : 1);
    });

    test("sends without permanently rejected secondary recipients and names them", async () => {
      const { sink, transport } = await start({ advertise: { pipelining }, rules: refuse });
      const to = ["bob@to.test", "nobody1@cc.test", "carol@cc.test", "nobody2@cc.test"];
      expect(await transport.send(composeMail(1, { to }), saysYes)).toEqual({
        kind: "sent",
        answer:
          "250 2.0.0 taken (but RCPT <nobody1@cc.test>: 550 5.1.1 no such user; RCPT <nobody2@cc.test>: 550 5.1.1 no such user)",
      });
      expect(sink.journal[0]?.recipients).toEqual(["bob@to.test", "carol@cc.test"]);
    });

    test("sends to a thousand recipients", async () => {
      const { sink, transport } = await start({ advertise: { pipelining } });
      const to = Array.from({ length: 1_000 }, (_, index) => `user${index}@to.test`);
      expect((await transport.send(composeMail(1, { to }), saysYes)).kind).toBe("sent");
      expect(sink.journal[0]?.recipients).toEqual(to);
    });
  },
);

test("names rejected recipients even after a long reply", async () => {
  const rules: SinkRule[] = [
    ...refuse,
    { phase: "DOT", action: { reply: `250 2.0.0 ${"ok ".repeat(300)}` } },
  ];
  const { transport } = await start({ rules });
  const outcome = await transport.send(composeMail(1, { to: ["bob@to.test", "nobody@cc.test"] }), saysYes);
  expect(outcome).toEqual({
    kind: "sent",
    answer: expect.stringMatching(/^250 2\.0\.0 ok .*<nobody@cc\.test>: 550 5\.1\.1/),
  });
});

test("sends the size before dot-stuffing and 8BITMIME where they are offered", async () => {
  const { sink, transport } = await start({ advertise: { sizeBytes: 1_000 } });
  const message = composeMail(1, { raw: "Subject: x\r\n\r\n.a\r\n.b\r\n" });
  await transport.send(message, saysYes);
  expect(sink.journal[0]?.mailParameters).toBe(`SIZE=${message.raw.length} BODY=8BITMIME`);
});

test("adds no parameter to MAIL that was not offered", async () => {
  const { sink, transport } = await start({ advertise: { eightBitMime: false, smtpUtf8: false } });
  await transport.send(composeMail(1), saysYes);
  expect(sink.journal[0]?.mailParameters).toBe("");
});

test("is rejected at MAIL with a size above the server's limit before sending bytes", async () => {
  const { sink, transport } = await start({ advertise: { sizeBytes: 10 } });
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "rejected",
    answer: "MAIL: 552 5.3.4 too big",
    meaning: "message",
  });
  expect(sink.bodyByteCount()).toBe(0);
});

test("adds SMTPUTF8 only when an address needs it", async () => {
  const { sink, transport } = await start();
  const message = { ...composeMail(1, { to: ["jürgen@to.test"] }), needsSmtpUtf8: true };
  expect((await transport.send(message, saysYes)).kind).toBe("sent");
  await transport.send(composeMail(2), saysYes);
  expect(sink.journal.map(({ recipients, mailParameters }) => [recipients[0], mailParameters])).toEqual([
    ["jürgen@to.test", "BODY=8BITMIME SMTPUTF8"],
    ["bob@to.test", "BODY=8BITMIME"],
  ]);
});

test("rejects an address that needs SMTPUTF8 when it is not offered and keeps the connection", async () => {
  const { sink, transport } = await start({ advertise: { smtpUtf8: false } });
  const message = { ...composeMail(1, { to: ["jürgen@to.test"] }), needsSmtpUtf8: true };
  expect(await transport.send(message, saysYes)).toEqual({
    kind: "rejected",
    answer: expect.stringMatching(/^5\.6\.7 .*SMTPUTF8/),
  });
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.connectionCount()).toBe(1);
});

test("sends with the empty reverse-path", async () => {
  const { sink, transport } = await start();
  const message = composeMail(1);
  await transport.send({ ...message, envelope: { ...message.envelope, from: "" } }, saysYes);
  expect(sink.journal[0]?.sender).toBe("");
});

test.each([
  "a@x.test\r\nBcc: e@evil.test",
  "a@x.test>\r\nRCPT TO:<z@z.test",
  "a@x.test\nRCPT TO:<z@z.test>",
  "a\0@x.test",
  "a@x.test> NOTIFY=NEVER",
  `${"a".repeat(250)}@x.test`,
])("rejects an address that could become a command without sending: %j", async (address) => {
  const { sink, transport } = await start();
  let checkCalls = 0;
  const mayLeave = async (): Promise<boolean> => (checkCalls += 1) > 0;
  const message = composeMail(1, { to: ["bob@to.test", address] });
  expect((await transport.send(message, mayLeave)).kind).toBe("rejected");
  const fromIt = { ...message, envelope: { from: address, to: ["bob@to.test"] } };
  expect((await transport.send(fromIt, mayLeave)).kind).toBe("rejected");
  expect([sink.connectionCount(), checkCalls]).toEqual([0, 0]);
});

test("rejects a message that would end early without sending it", async () => {
  const { sink, transport } = await start();
  const raw = "Subject: x\r\n\r\nhello\n.\r\nMAIL FROM:<evil@from.test>\r\n";
  expect(await transport.send(composeMail(1, { raw }), saysYes)).toEqual({
    kind: "rejected",
    answer: expect.stringMatching(/^5\.6\.0 bare LF/),
  });
  expect(sink.connectionCount()).toBe(0);
});

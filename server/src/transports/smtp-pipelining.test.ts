// Tests servers that offer PIPELINING but lose grouped commands: they get single commands, and this is remembered.
import { expect, test } from "vitest";
import type { SinkAction, SinkPhase, SinkRule } from "../testing/smtp-sink-rules.ts";
import { commandLines, composeMail, saysYes, useSmtp } from "../testing/smtp-fixture.ts";

const start = useSmtp();
const timeouts = { pipelineMs: 200 };
/** A group sent by the client; the server sees only the commands it does not lose. */
const lost: ReadonlyArray<[SinkPhase, SinkAction]> = [
  ["RCPT", "swallow"],
  ["MAIL", "swallow"],
  ["MAIL", "swallow-next"],
  ["RCPT", "swallow-next"],
];

test.each(lost)(
  "%s → %s: sends the message immediately and the next ones over one connection",
  async (phase, action) => {
    const { sink, transport } = await start({ rules: [{ phase, action }] }, { timeouts });
    for (const id of [1, 2, 3])
      expect(await transport.send(composeMail(id), saysYes)).toMatchObject({ kind: "sent" });
    expect(sink.journal.map(({ messageId }) => messageId)).toEqual(
      [1, 2, 3].map((id) => `<${id}@from.test>`),
    );
    expect(sink.connectionCount()).toBe(2);
  },
);

test("handles several recipients with DATA outside the group", async () => {
  const { sink, transport } = await start({ rules: [{ phase: "RCPT", action: "swallow" }] }, { timeouts });
  const mail = composeMail(1, { to: ["bob@to.test", "carol@to.test"] });
  expect(await transport.send(mail, saysYes)).toMatchObject({ kind: "sent" });
  expect(sink.journal[0]?.recipients).toEqual(["bob@to.test", "carol@to.test"]);
});

test("runs the pre-send check once, for the message that leaves", async () => {
  const { transport } = await start({ rules: [{ phase: "RCPT", action: "swallow" }] }, { timeouts });
  let asked = 0;
  await transport.send(composeMail(1), async () => ++asked > 0);
  expect(asked).toBe(1);
});

const stillSilent: SinkRule = { phase: "RCPT", action: "silent" };
test("keeps groups when a server does not reply to a single command either", async () => {
  const { sink, transport } = await start(
    { rules: [stillSilent] },
    { timeouts: { pipelineMs: 100, recipientMs: 150 } },
  );
  expect(await transport.send(composeMail(1), saysYes)).toMatchObject({ kind: "deferred", outage: true });
  expect(sink.connectionCount()).toBe(2);
  sink.setRules([]);
  sink.clear();
  await transport.send(composeMail(2), saysYes);
  expect(sink.connectionCount()).toBe(3);
  // MAIL, RCPT and DATA arrived before any reply because a group is written as a whole.
  expect(commandLines(sink).slice(1, 4)).toEqual([
    expect.stringMatching(/^MAIL/),
    expect.stringMatching(/^RCPT/),
    "DATA",
  ]);
});

test("keeps groups for a server that rejects in order", async () => {
  const rules: SinkRule[] = [{ phase: "RCPT", action: { reply: "550 5.1.1 no such user" } }];
  const { sink, transport } = await start({ rules }, { timeouts, maxConnections: 1 });
  for (const id of [1, 2])
    expect(await transport.send(composeMail(id), saysYes)).toMatchObject({
      kind: "rejected",
      meaning: "hard-bounce",
    });
  expect(sink.connectionCount()).toBe(1);
});

test("accepts an out-of-order reply to a single command as the server's reply", async () => {
  const rules: SinkRule[] = [{ phase: "RCPT", action: { reply: "503 5.5.1 first prove who you are" } }];
  const { sink, transport } = await start({ rules }, { timeouts });
  expect(await transport.send(composeMail(1), saysYes)).toMatchObject({
    kind: "rejected",
    answer: "RCPT: 503 5.5.1 first prove who you are",
  });
  expect(sink.connectionCount()).toBe(2);
});

// Tests the programmable SMTP server of the tests.
import * as fc from "fast-check";
import { connect, type Socket } from "node:net";
import { createTransport } from "nodemailer";
import { afterEach, expect, test } from "vitest";
import { createBodyReader, findMessageId } from "./smtp-sink-body.ts";
import { startSmtpSink, type SmtpSink } from "./smtp-sink.ts";
import type { SmtpSinkOptions } from "./smtp-sink-rules.ts";

const open: { sink: SmtpSink; sockets: Socket[] }[] = [];
afterEach(async () => {
  for (const { sink, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await sink.close();
  }
});

interface Dialogue {
  sink: SmtpSink;
  socket: Socket;
  /** Writes and returns all replies up to a line that begins with the code. */
  say(text: string, untilCode: string): Promise<string>;
  /** Returns all replies until the connection ends, and how it ended. */
  ended(): Promise<{ text: string; how: "FIN" | "RST" }>;
}

async function start(options: SmtpSinkOptions = {}): Promise<Dialogue> {
  const sink = await startSmtpSink(options);
  const socket = connect(sink.port, "127.0.0.1");
  open.push({ sink, sockets: [socket] });
  let heard = "";
  let how: "FIN" | "RST" | undefined;
  let look: (() => void) | undefined;
  socket.on("data", (chunk) => {
    heard += chunk.toString();
    look?.();
  });
  socket.on("error", () => (how = "RST"));
  socket.on("close", () => {
    how ??= "FIN";
    look?.();
  });
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (condition()) resolve();
      };
      look();
    });
  return {
    sink,
    socket,
    async say(text, untilCode) {
      heard = "";
      socket.write(text);
      await until(() => new RegExp(`^${untilCode}(?: .*)?\r\n$`, "m").test(heard));
      return heard;
    },
    async ended() {
      await until(() => how !== undefined);
      return { text: heard, how: how ?? "FIN" };
    },
  };
}

const HELLO = "EHLO client.test\r\n";
const ENVELOPE = "MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n";
const MESSAGE = "Message-ID: <1@x.test>\r\nSubject: x\r\n\r\n..a\r\nb\r\n";

test("accepts email over a pipelined session, including commands after the dot", async () => {
  const { sink, say } = await start();
  await say(`${HELLO}${ENVELOPE}`, "354");
  const replies = await say(`${MESSAGE}.\r\n${ENVELOPE}`, "354");
  expect(replies.match(/^\d+/gm)).toEqual(["250", "250", "250", "354"]);
  await say(`${MESSAGE}.\r\nQUIT\r\n`, "221");
  expect(sink.journal).toHaveLength(2);
  expect(sink.journal[1]).toMatchObject({
    messageId: "<1@x.test>",
    sender: "a@x.test",
    recipients: ["b@y.test"],
    heloName: "client.test",
    isEncrypted: false,
    connection: 1,
  });
  expect(sink.journal[1]?.raw.toString()).toBe("Message-ID: <1@x.test>\r\nSubject: x\r\n\r\n.a\r\nb\r\n");
});

test("records a message in the journal before it replies to the dot", async () => {
  const { sink, socket, say } = await start({ rules: [{ phase: "DOT", action: "silent", accept: true }] });
  await say(`${HELLO}${ENVELOPE}`, "354");
  socket.write(`${MESSAGE}.\r\n`);
  await sink.waitForMessages(1);
  expect(sink.journal[0]?.recipients).toEqual(["b@y.test"]);
});

test("does not record a message without its dot or rejected at it", async () => {
  const { sink, socket, say } = await start({
    rules: [{ phase: "DOT", times: 1, action: { reply: "451 later" } }],
  });
  await say(`${HELLO}${ENVELOPE}`, "354");
  await say(`${MESSAGE}.\r\n`, "451");
  await say(ENVELOPE, "354");
  socket.end(MESSAGE);
  await sink.waitUntil(() => sink.openConnectionCount() === 0);
  expect(sink.journal).toHaveLength(0);
});

test("joins the chunks of BDAT unchanged, and discards those without a recipient", async () => {
  const { sink, say } = await start({ advertise: { chunking: true } });
  await say(`${HELLO}MAIL FROM:<a@x.test>\r\n`, "250 2.1.0");
  await say("BDAT 6 LAST\r\nQUIT\r\n", "503");
  await say("RCPT TO:<b@y.test>\r\nBDAT 4\r\n.\r\n.", "250 2.0.0");
  await say("BDAT 0 LAST\r\n", "250 2.0.0");
  expect(sink.journal.map(({ raw }) => raw.toString())).toEqual([".\r\n."]);
  const without = await start();
  await without.say(`${HELLO}BDAT 6 LAST\r\nNOOP\r\n`, "250 2.0.0");
  expect(without.sink.commands.map(({ line }) => line)).toContain("NOOP");
});

test("applies rules by phase, recipient and count", async () => {
  const { sink, say } = await start({
    rules: [
      { phase: "RCPT", recipient: /^full@/, action: { reply: "452 full" } },
      { phase: "RCPT", skip: 1, times: 1, action: { reply: "451 second" } },
    ],
  });
  await say(`${HELLO}MAIL FROM:<a@x.test>\r\n`, "250 2.1.0");
  const replies = await say(
    ["full@x.test", "one@x.test", "full@y.test", "two@x.test", "three@x.test"]
      .map((address) => `RCPT TO:<${address}>\r\n`)
      .join("") + "NOOP\r\n",
    "250 2.0.0",
  );
  expect(replies.match(/^\d+/gm)).toEqual(["452", "250", "452", "451", "250", "250"]);
  sink.setRules([{ phase: "RCPT", action: { reply: "550 no" } }]);
  await say("RCPT TO:<one@x.test>\r\n", "550");
});

test("drops, resets, and closes after 421", async () => {
  const drop = await start({ rules: [{ phase: "EHLO", action: "drop" }] });
  drop.socket.write(HELLO);
  expect(await drop.ended()).toEqual({ text: "220 sink ESMTP\r\n", how: "FIN" });
  const reset = await start({ rules: [{ phase: "EHLO", action: "reset" }] });
  await reset.say("", "220");
  reset.socket.write(HELLO);
  expect((await reset.ended()).how).toBe("RST");
  const closing = await start({ rules: [{ phase: "CONNECT", action: { reply: "421 busy" } }] });
  expect(await closing.ended()).toEqual({ text: "421 busy\r\n", how: "FIN" });
});

test("delays a reply and keeps later input in order", async () => {
  const { say } = await start({ rules: [{ phase: "MAIL", delayMs: 50 }] });
  await say(HELLO, "250");
  const begunAt = performance.now();
  const replies = await say(`${ENVELOPE}`, "354");
  expect(performance.now() - begunAt).toBeGreaterThan(45);
  expect(replies.match(/^\d+/gm)).toEqual(["250", "250", "354"]);
});

test("rejects what a strict server rejects", async () => {
  const { sink, say } = await start({
    advertise: { smtpUtf8: false, sizeBytes: 100 },
    credentials: { user: "u", password: "p" },
  });
  await say("MAIL FROM:<a@x.test>\r\n", "503");
  await say(HELLO, "250");
  await say("MAIL FROM:<a@x.test>\r\n", "530");
  await say("AUTH PLAIN AHUAcA==\r\n", "504");
  await say("NONSENSE\r\n", "500");
  expect(sink.commands.at(-1)).toEqual({ connection: 1, line: "NONSENSE", isEncrypted: false });
  const plain = await start({ advertise: { smtpUtf8: false, sizeBytes: 100 } });
  await plain.say(HELLO, "250");
  await plain.say("MAIL FROM:a@x.test\r\n", "501");
  await plain.say("MAIL FROM:<a@x.test> SIZE=101\r\n", "552");
  await plain.say("MAIL FROM:<ä@x.test>\r\n", "553");
  await plain.say("MAIL FROM:<a@x.test> SMTPUTF8\r\n", "555");
  await plain.say("DATA\r\n", "503");
  await plain.say("MAIL FROM:<a@x.test>\r\nRCPT TO:<ä@x.test>\r\n", "553");
  await plain.say("RCPT TO:<b@x.test>\r\nDATA\r\n", "354");
  await plain.say(`${"x".repeat(101)}\r\n.\r\n`, "552");
  plain.socket.write("NOOP\n");
  expect((await plain.ended()).text).toContain("421 5.5.2");
});

test("serves a third-party client over STARTTLS with authentication", async () => {
  const sink = await startSmtpSink({
    advertise: { startTls: true, auth: ["LOGIN"], sizeBytes: 1_000_000 },
    credentials: { user: "bob", password: "secret" },
  });
  open.push({ sink, sockets: [] });
  const client = createTransport({
    host: "127.0.0.1",
    port: sink.port,
    requireTLS: true,
    tls: { ca: sink.certificate },
    auth: { user: "bob", pass: "secret" },
  });
  await client.sendMail({
    from: "a@x.test",
    to: ["b@y.test", "c@y.test"],
    subject: "x",
    text: ".dot\n\n..two\n",
  });
  client.close();
  expect(sink.journal).toMatchObject([
    { recipients: ["b@y.test", "c@y.test"], isEncrypted: true, user: "bob" },
  ]);
  expect(sink.journal[0]?.raw.toString()).toMatch(/\r\n\.dot\r\n\r\n\.\.two\r\n/);
});

const bodies = fc
  .array(fc.constantFrom("\r\n", ".", "a", "\r", "\n"), { maxLength: 20 })
  .map((parts) => parts.join(""));
test("reads the same message for any split of its bytes, and nothing beyond its end", () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(40), { maxLength: 5 }), (text, cuts) => {
      const message = `${text}\r\n`;
      const wire = Buffer.from(`${message.replace(/(^|\r\n)\./g, "$1..")}.\r\nMAIL`);
      const reader = createBodyReader();
      const places = [0, ...cuts.map((cut) => Math.min(cut, wire.length)).sort((a, b) => a - b), wire.length];
      let rest: string | undefined;
      for (const [index, place] of places.entries()) {
        const chunk = wire.subarray(place, places[index + 1]);
        if (rest === undefined) rest = reader.read(chunk)?.toString();
        else rest += chunk.toString();
      }
      expect(rest).toBe("MAIL");
      expect(reader.message().toString()).toBe(message);
      expect(reader.byteCount()).toBe(wire.length - "MAIL".length);
    }),
    { numRuns: 1_000 },
  );
});

test("ends an empty message immediately", () => {
  const reader = createBodyReader();
  expect(reader.read(Buffer.from(".\r\nQUIT\r\n"))?.toString()).toBe("QUIT\r\n");
  expect(reader.message()).toHaveLength(0);
});

test("finds the Message-ID only in the header", () => {
  expect(findMessageId(Buffer.from("Subject: x\r\nmessage-id:  <a@b>\r\n\r\n"))).toBe("<a@b>");
  expect(findMessageId(Buffer.from("Subject: x\r\n\r\nMessage-ID: <a@b>\r\n"))).toBe("");
});

test("names the condition when a wait times out", async () => {
  const { sink } = await start();
  await expect(sink.waitUntil(() => sink.journal.length === 7, 20)).rejects.toThrow(
    "sink.journal.length === 7",
  );
});

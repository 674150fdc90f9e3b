// Tests that every transport must pass. Each transport's test file registers them with its own fixture.
import { randomBytes, randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { MayLeave, Outcome, OutgoingMessage, Transport } from "./transport.ts";

/** A message as received by the server. Its Message-ID identifies it. */
export interface ReceivedMessage {
  raw: Buffer;
  envelope: { from: string; to: readonly string[] };
}

export interface TransportFixture {
  /** Ready to accept at least two messages at the same time. */
  transport: Transport;
  /** Returns all messages submitted so far, in any order. */
  received(): Promise<readonly ReceivedMessage[]>;
  /** Ends the server, after the transport was closed. */
  close(): Promise<void>;
  /** Prepares `count` emails for transports that need existing rows. Default: random ids. */
  prepareMails?(count: number): Promise<readonly Pick<OutgoingMessage, "emailId" | "projectId">[]>;
}

const MESSAGE_ID_HEADER = /^Message-ID: <([^@>]+)@contract\.test>\r$/m;
const CONCURRENT_SENDS = 100;
const LARGE_BODY_LINES = 20_000;
const LINE_BYTES = 57;

/** Bodies that a careless implementation would change. All lines end in CRLF and have at most 998 octets. */
const AWKWARD_BODIES: Record<string, string | Buffer> = {
  "no body": "",
  "dots at line beginnings": ".\r\n..\r\n...\r\n.hidden\r\nend.\r\n.\r\n",
  "dots only": ".\r\n.\r\n.\r\n",
  "empty lines at the end": "text\r\n\r\n\r\n\r\n",
  "SMTP commands": "QUIT\r\nRSET\r\nMAIL FROM:<x@y.test>\r\n.\r\nDATA\r\n",
  "lines of 998 octets": `${"x".repeat(998)}\r\n.${"y".repeat(997)}\r\n`,
  "octets above 127": Buffer.concat([Buffer.from([0x80, 0xff, 0xc3, 0xa4, 0xe2, 0x82]), Buffer.from("\r\n")]),
  "more than a megabyte": Array.from(
    { length: LARGE_BODY_LINES },
    () => `.${randomBytes(LINE_BYTES).toString("base64")}\r\n`,
  ).join(""),
};

/** Registers the tests. Each test gets its own fixture. */
export function testTransportContract(name: string, createFixture: () => Promise<TransportFixture>): void {
  describe(`${name} as a transport`, () => {
    let fixture: TransportFixture;
    beforeEach(async () => {
      fixture = await createFixture();
    });
    afterEach(async () => {
      await fixture.transport.close();
      await fixture.close();
    });
    const use = (): TransportFixture => fixture;
    testBytes(use);
    testPreSendCheck(use);
    testMany(use);
    testClose(use);
  });
}

function testBytes(use: () => TransportFixture): void {
  for (const [title, body] of Object.entries(AWKWARD_BODIES))
    test(`transmits every byte unchanged: ${title}`, async () => {
      const [message] = await compose(use(), 1, body);
      const outcome = await use().transport.send(message, async () => true);
      expect(outcome.kind).toBe("sent");
      const received = await use().received();
      expect(received).toHaveLength(1);
      expect(received[0]?.raw.equals(message.raw)).toBe(true);
    });

  test("uses the given envelope and ignores the headers", async () => {
    const [plain, utf8] = await compose(use(), 2);
    const envelope = {
      from: "bounces+1=a@sender.test",
      to: ["first@to.test", "second@cc.test", "third@bcc.test"],
    };
    const utf8Envelope = { from: "sender@sender.test", to: ["jürgen@to.test"] };
    const outcomes = [
      await use().transport.send({ ...plain, envelope }, async () => true),
      await use().transport.send({ ...utf8, envelope: utf8Envelope, needsSmtpUtf8: true }, async () => true),
    ];
    expect(outcomes.map(({ kind }) => kind)).toEqual(["sent", "sent"]);
    const envelopes = new Map(
      (await use().received()).map((message) => [toEmailId(message.raw), message.envelope]),
    );
    expect(envelopes.get(plain.emailId)).toEqual(envelope);
    expect(envelopes.get(utf8.emailId)).toEqual(utf8Envelope);
  });
}

function testPreSendCheck(use: () => TransportFixture): void {
  test("runs the pre-send check exactly once, before the message is submitted", async () => {
    const [message, other] = await compose(use(), 2);
    const seen: string[][] = [];
    const outcome = await use().transport.send(message, async () => {
      // Sends another whole message during the check, so that a message submitted too early would also have arrived.
      await use().transport.send(other, async () => true);
      seen.push(await receivedIds(use()));
      return true;
    });
    expect(outcome.kind).toBe("sent");
    expect(seen).toEqual([[other.emailId]]);
    expect(new Set(await receivedIds(use()))).toEqual(new Set([message.emailId, other.emailId]));
  });

  test("withdraws a message when the pre-send check says no, and sends the next one", async () => {
    const [withdrawn, next] = await compose(use(), 2);
    expect(await use().transport.send(withdrawn, async () => false)).toEqual({ kind: "withdrawn" });
    expect((await use().transport.send(next, async () => true)).kind).toBe("sent");
    expect(await receivedIds(use())).toEqual([next.emailId]);
  });

  test("rethrows an error of the pre-send check, and sends the next message", async () => {
    const [failing, next] = await compose(use(), 2);
    const failure = new Error("the database is gone");
    await expect(use().transport.send(failing, () => Promise.reject(failure))).rejects.toBe(failure);
    expect((await use().transport.send(next, async () => true)).kind).toBe("sent");
    expect(await receivedIds(use())).toEqual([next.emailId]);
  });
}

function testMany(use: () => TransportFixture): void {
  test(`delivers ${CONCURRENT_SENDS} concurrent messages exactly once each`, async () => {
    const messages = await compose(use(), CONCURRENT_SENDS);
    const checkCalls: string[] = [];
    const outcomes = await Promise.all(
      messages.map((message) =>
        use().transport.send(message, async () => {
          checkCalls.push(message.emailId);
          return true;
        }),
      ),
    );
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["sent"]));
    const ids = messages.map(({ emailId }) => emailId).sort();
    expect(checkCalls.sort()).toEqual(ids);
    expect((await receivedIds(use())).sort()).toEqual(ids);
  });
}

function testClose(use: () => TransportFixture): void {
  test("close waits for the messages in flight", async () => {
    const [message] = await compose(use(), 1);
    const order: string[] = [];
    const atCheck = Promise.withResolvers<void>();
    const mayPass = Promise.withResolvers<boolean>();
    const mayLeave: MayLeave = async () => {
      atCheck.resolve();
      return mayPass.promise;
    };
    const sending = use()
      .transport.send(message, mayLeave)
      .then((outcome: Outcome) => order.push(outcome.kind));
    await atCheck.promise;
    const closing = use()
      .transport.close()
      .then(() => order.push("closed"));
    mayPass.resolve(true);
    await Promise.all([sending, closing]);
    expect(order).toEqual(["sent", "closed"]);
    expect(await receivedIds(use())).toEqual([message.emailId]);
  });

  test("close can be called twice and without any sent message", async () => {
    await Promise.all([use().transport.close(), use().transport.close()]);
    await use().transport.close();
    expect(await use().received()).toEqual([]);
  });
}

/** Returns at least two different messages, or `count` if more. */
async function compose(
  fixture: TransportFixture,
  count: number,
  body: string | Buffer = "Good day.\r\n",
): Promise<readonly [OutgoingMessage, OutgoingMessage, ...OutgoingMessage[]]> {
  const ids = (await fixture.prepareMails?.(Math.max(2, count))) ?? randomIds(Math.max(2, count));
  const [first, second, ...others] = ids.map((id) => composeMessage(id, body));
  if (first === undefined || second === undefined) throw new Error("the fixture prepared too few emails");
  return [first, second, ...others];
}

function randomIds(count: number): Pick<OutgoingMessage, "emailId" | "projectId">[] {
  const projectId = randomUUID();
  return Array.from({ length: count }, () => ({ emailId: randomUUID(), projectId }));
}

function composeMessage(
  { emailId, projectId }: Pick<OutgoingMessage, "emailId" | "projectId">,
  body: string | Buffer,
): OutgoingMessage {
  const header =
    `Message-ID: <${emailId}@contract.test>\r\nFrom: sender@sender.test\r\nTo: somebody@else.test\r\n` +
    "Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nSubject: contract\r\n\r\n";
  return {
    emailId,
    projectId,
    attempt: 1,
    envelope: { from: "sender@sender.test", to: ["recipient@to.test"] },
    raw: Buffer.concat([Buffer.from(header), Buffer.from(body)]),
    needsSmtpUtf8: false,
  };
}

async function receivedIds(fixture: TransportFixture): Promise<string[]> {
  return (await fixture.received()).map(({ raw }) => toEmailId(raw));
}

function toEmailId(raw: Buffer): string {
  return MESSAGE_ID_HEADER.exec(raw.toString("latin1"))?.[1] ?? "a message without our Message-ID";
}

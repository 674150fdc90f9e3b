// Tests the local mailbox against the transport contract, and the behavior of its magic addresses.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sql } from "kysely";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { addProject } from "../testing/add-project.ts";
import { createMailboxTransport } from "./mailbox.ts";
import type { OutgoingMessage } from "./transport.ts";
import { testTransportContract } from "./transport-contract.ts";

let testDatabase: TestDatabase;
let database: Database;
let projectId = "";

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});

afterAll(() => testDatabase.drop());

beforeEach(async () => {
  await sql`truncate projects cascade`.execute(database);
  projectId = newId();
  await addProject(database, { id: projectId });
});

testTransportContract("the local mailbox", async () => ({
  transport: createMailboxTransport(database),
  async received() {
    const rows = await database
      .selectFrom("mailbox_messages")
      .select(["raw", "fromAddress", "recipients"])
      .execute();
    return rows.map((row) => ({ raw: row.raw, envelope: { from: row.fromAddress, to: row.recipients } }));
  },
  close: async () => undefined,
  prepareMails: async (count) => Array.from({ length: count }, () => ({ emailId: newId(), projectId })),
}));

function messageTo(address: string, attempt = 1): OutgoingMessage {
  return {
    emailId: newId(),
    projectId,
    attempt,
    envelope: { from: "me@sandbox.localhost", to: [address] },
    raw: Buffer.from("Subject: =?utf-8?B?w6Q=?=\r\n b\r\n\r\nhello\r\n"),
    needsSmtpUtf8: false,
  };
}

test.each([
  ["delivered@sandbox.localhost", "delivered"],
  ["bounced@sandbox.localhost", "bounced"],
  ["bounced+run-7@sandbox.localhost", "bounced"],
  ["soft-bounced@sandbox.localhost", "soft-bounced"],
  ["complained+x@sandbox.localhost", "complained"],
  ["ada@example.com", "delivered"],
  ["bounced@example.com", "delivered"],
])("keeps an email to %s and simulates %s", async (address, feedback) => {
  const outcome = await createMailboxTransport(database).send(messageTo(address), async () => true);
  expect(outcome).toMatchObject({ kind: "sent", feedback });
  const rows = await database.selectFrom("mailbox_messages").select(["recipients", "subject"]).execute();
  expect(rows).toEqual([{ recipients: [address], subject: "ä b" }]);
});

test("defers an email to deferred@ at its first two attempts, seconds apart, and then keeps it", async () => {
  const transport = createMailboxTransport(database);
  const address = "deferred+a@sandbox.localhost";
  for (const attempt of [1, 2]) {
    const outcome = await transport.send(messageTo(address, attempt), async () => true);
    expect(outcome).toMatchObject({ kind: "deferred", retryAfterMs: 2_000 });
  }
  expect((await transport.send(messageTo(address, 3), async () => true)).kind).toBe("sent");
  expect(await database.selectFrom("mailbox_messages").select("id").execute()).toHaveLength(1);
});

test("keeps a message once when it is submitted again after a lost reply", async () => {
  const transport = createMailboxTransport(database);
  const message = messageTo("ada@example.com");
  await transport.send(message, async () => true);
  await transport.send({ ...message, attempt: 2 }, async () => true);
  expect(await database.selectFrom("mailbox_messages").select("id").execute()).toHaveLength(1);
});

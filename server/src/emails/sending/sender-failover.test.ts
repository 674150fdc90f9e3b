// Tests the sender with several transports and a real PostgreSQL. A second transport gets an email only while it still belongs to this
// sender.
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { EmailKind } from "@postloft/contract/emails.ts";
import { createDatabase, transaction, type Database } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/database/test-database.ts";
import { addProject } from "../../testing/add-project.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import {
  createScriptedTransport,
  refuseWith,
  takeEverything,
  type Play,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { markInDoubt } from "../../testing/outbox-fixture.ts";
import { statusOfEmail } from "../rows/status-queries.ts";
import { enqueueEmails, makeContent } from "../outbox/emails.ts";
import { readEmail } from "../../testing/read-email.ts";
import { createPreparer } from "./prepare-emails.ts";
import { createFailoverTransport } from "../../transports/failover.ts";
import type { Outcome } from "../../transports/transport.ts";
import { createRenderer, type Renderer } from "../../rendering/renderer.ts";
import { startSender, type Sender } from "./sender.ts";

const BEAT_MS = 50;
const WAIT = { timeout: 30_000, interval: 20 };
const OUTAGE: Outcome = { kind: "deferred", answer: "454 Throttling failure", outage: true };

const log = createLog({ level: "silent" });
let testDatabase: TestDatabase;
let database: Database;
let renderer: Renderer;
let first: ScriptedTransport;
let second: ScriptedTransport;
let senders: Sender[] = [];
let projectId = "";

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  renderer = createRenderer({ threads: 1 });
});

afterAll(async () => {
  await renderer.close();
  await testDatabase.drop();
});

beforeEach(async () => {
  first = createScriptedTransport();
  second = createScriptedTransport();
  projectId = newId();
  await addProject(database, { id: projectId });
});

afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
  await sql`truncate projects, senders cascade`.execute(database);
});

async function start(transports: readonly ScriptedTransport[]): Promise<Sender> {
  const choices = transports.map((transport, at) => ({ transport, label: `number ${at + 1}` }));
  const sender = await startSender({
    mailbox: createFailoverTransport(choices, { log }),
    database,
    transport: createFailoverTransport(choices, { log }),
    prepare: createPreparer({
      database,
      renderer,
      systemFrom: { address: "post@host.example" },
      ports: {
        readContacts: async (keys) =>
          new Map(keys.map(({ id }) => [id, { email: "ada@example.com", subscribed: true, data: {} }])),
        findSigningKeys: async (names) =>
          new Map(names.map((name) => [`${name.projectId} ${name.domain}`, { kind: "unsigned" as const }])),
        linksOf: () => ({ unsubscribeUrl: "", subscribeUrl: "", manageUrl: "" }),
        readFooters: async () => [],
      },
    }),
    recipients: RECIPIENT_CHECKS,
    applyFeedback: async () => undefined,
    connections: 5,
    beatMs: BEAT_MS,
    log,
    metrics: createMetrics(),
  });
  senders.push(sender);
  return sender;
}

async function enqueue(kind: EmailKind = "CAMPAIGN", scheduledFor?: Date): Promise<string> {
  const contactId = newId();
  const [id = ""] = await transaction(database, async (tx) => {
    await tx
      .insertInto("contacts")
      .values({ projectId, id: contactId, email: `${contactId}@example.com`, subscribed: true })
      .execute();
    return enqueueEmails(tx, [
      {
        projectId,
        contactId,
        kind,
        to: { address: "ada@example.com", name: null },
        copies: null,
        content: makeContent({
          projectId,
          from: { address: "me@sender.example", name: null },
          replyTo: null,
          subject: "Hello",
          html: "<p>Hi</p>",
          text: null,
          headers: [],
          attachments: [],
        }),
        variables: {},
        ...(scheduledFor === undefined ? {} : { scheduledFor }),
      },
    ]);
  });
  return id;
}

async function rowOf(id: string) {
  return database
    .selectFrom("emails as e")
    .select([statusOfEmail.as("status"), "senderId", "attempts"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

async function until(id: string, status: string): Promise<void> {
  await vi.waitFor(async () => expect((await rowOf(id)).status).toBe(status), WAIT);
}

/** Waits until another sender, or the same one under a new id, has claimed the email. */
async function untilClaimedAgain(id: string, before: string | null): Promise<void> {
  await vi.waitFor(async () => {
    const row = await rowOf(id);
    expect(row.status).toBe("CLAIMED");
    expect(row.senderId).not.toBe(before);
  }, WAIT);
}

/** Deletes the sender's row and requeues its emails, as a recovering process does after the lease expired. */
async function declareDead(): Promise<void> {
  await sql`delete from senders`.execute(database);
  await sql`update emails set status = 'QUEUED', sender_id = null`.execute(database);
}

/** Returns a point at which a scripted transport waits until released. */
function createStop() {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    release: () => released.resolve(),
    async here() {
      reached.resolve();
      await released.promise;
    },
  };
}

const passCheckThenFail: Play = async (_message, mayLeave) =>
  (await mayLeave()) ? OUTAGE : { kind: "withdrawn" };

test("passes an email to the next transport in the same attempt if it was not accepted", async () => {
  first.play = passCheckThenFail;
  let statusAtSecond = "";
  second.play = async (message, mayLeave) => {
    statusAtSecond = (await rowOf(message.emailId)).status;
    return takeEverything(message, mayLeave);
  };
  const id = await enqueue();
  await start([first, second]);
  await until(id, "SENT");
  expect(statusAtSecond).toBe("SENDING");
  expect([first.handedOver.length, second.handedOver.length]).toEqual([1, 1]);
  expect((await rowOf(id)).attempts).toBe(1);
});

test("waits for the next attempt and lists each reason when every transport is down", async () => {
  first.play = passCheckThenFail;
  second.play = refuseWith({ kind: "deferred", answer: "CONNECT: refused", outage: true });
  const id = await enqueue();
  await start([first, second]);
  await vi.waitFor(async () => expect((await rowOf(id)).attempts).toBe(1), WAIT);
  expect(await readEmail(database, projectId, id)).toMatchObject({
    status: "QUEUED",
    reason: "number 1: 454 Throttling failure; number 2: CONNECT: refused",
  });
});

test.each(["CLAIMED", "SENDING", "SENT"])(
  "sends nothing to the next transport if another sender's email is now %s",
  async (status) => {
    const stop = createStop();
    first.play = async (message, mayLeave) => {
      const outcome = await passCheckThenFail(message, mayLeave);
      await stop.here();
      return outcome;
    };
    const id = await enqueue();
    const sender = await start([first, second]);
    await stop.reached;
    const other = newId();
    await markInDoubt(database, other, id);
    if (status === "CLAIMED")
      await sql`update senders set in_doubt = '{}' where id = ${other}`.execute(database);
    if (status === "SENT") await sql`update emails set status = 'SENT'`.execute(database);
    stop.release();
    await sender.stop();
    expect([first.handedOver.length, second.handedOver.length]).toEqual([1, 0]);
    expect(await rowOf(id)).toMatchObject({ status, senderId: other });
  },
);

test("submits an email once when the sender loses its lease and claims it again", async () => {
  const stop = createStop();
  first.play = async (message, mayLeave) => {
    await stop.here();
    return takeEverything(message, mayLeave);
  };
  const id = await enqueue();
  await start([first]);
  await stop.reached;
  const before = await rowOf(id);
  await declareDead();
  await untilClaimedAgain(id, before.senderId);
  stop.release();
  await until(id, "SENT");
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
  expect(first.handedOver).toHaveLength(1);
});

test("sends a scheduled email at its time and once when the first sender dies with it", async () => {
  const stop = createStop();
  const times: number[] = [];
  first.play = async (message, mayLeave) => {
    times.push(Date.now());
    await stop.here();
    return takeEverything(message, mayLeave);
  };
  second.play = first.play;
  const at = new Date(Date.now() + 1_000);
  const id = await enqueue("TRANSACTIONAL", at);
  await start([first]);
  await stop.reached;
  const before = await rowOf(id);
  await declareDead();
  await start([second]);
  // The first sender is only declared dead, so on a slow machine it may claim the email again before the second one does.
  await untilClaimedAgain(id, before.senderId);
  stop.release();
  await until(id, "SENT");
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
  expect(first.handedOver.length + second.handedOver.length).toBe(1);
  for (const time of times) expect(time).toBeGreaterThanOrEqual(at.getTime());
});

// Tests the sender's promises for every email in the outbox (P1–P5, P9, P10) against a real PostgreSQL.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { sql } from "kysely";
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
  TAKEN,
  takeEverything,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { expireLease, markInDoubt } from "../../testing/outbox-fixture.ts";
import { enqueueEmails, makeContent } from "../outbox/emails.ts";
import { readEmail } from "../../testing/read-email.ts";
import { statusOfEmail } from "../rows/status-queries.ts";
import type { SigningKey } from "./build-messages.ts";
import { createPreparer } from "./prepare-emails.ts";
import type { Outcome } from "../../transports/transport.ts";
import { createRenderer, type Renderer } from "../../rendering/renderer.ts";
import { startSender, type Sender } from "./sender.ts";

const BEAT_MS = 50;
const WAIT = { timeout: 30_000, interval: 20 };

let testDatabase: TestDatabase;
let database: Database;
let renderer: Renderer;
let transport: ScriptedTransport;
let signing: SigningKey;
let senders: Sender[] = [];
let projectId = "";
/** How many batches fail to prepare because the database is unreachable. */
let failures = 0;

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
  transport = createScriptedTransport();
  signing = { kind: "unsigned" };
  failures = 0;
  projectId = await createProjectRow();
});

afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
  await sql`truncate projects, senders cascade`.execute(database);
});

async function createProjectRow(): Promise<string> {
  const id = newId();
  await addProject(database, { id });
  return id;
}

const CONNECTIONS = 5;
async function start(over: ScriptedTransport = transport, { inOrder = false } = {}): Promise<Sender> {
  const prepare = createPreparer({
    database,
    renderer,
    systemFrom: { address: "post@host.example" },
    ports: {
      readContacts: async (keys) =>
        new Map(
          keys.map(({ id }) => [id, { email: "x@example.com", subscribed: true, data: { plan: "pro" } }]),
        ),
      findSigningKeys: async (names) => {
        if (failures-- > 0) throw new Error("the database is away");
        return new Map(names.map((name) => [`${name.projectId} ${name.domain}`, signing]));
      },
      linksOf: (project, contact) => ({
        unsubscribeUrl: `https://u.example/${project}/${contact}`,
        subscribeUrl: "",
        manageUrl: "",
      }),
      readFooters: async () => [],
    },
  });
  const sender = await startSender({
    mailbox: transport,
    database,
    transport: over,
    prepare: inOrder ? oneAfterTheOther(prepare) : prepare,
    recipients: RECIPIENT_CHECKS,
    applyFeedback: async () => undefined,
    connections: CONNECTIONS,
    beatMs: BEAT_MS,
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  senders.push(sender);
  return sender;
}

/** Makes batches ready in the order in which they were claimed. */
function oneAfterTheOther(prepare: ReturnType<typeof createPreparer>): ReturnType<typeof createPreparer> {
  let last: Promise<unknown> = Promise.resolve();
  return (rows) => {
    const next = last.then(() => prepare(rows));
    last = next;
    return next;
  };
}

interface Wanted {
  project?: string;
  kind?: EmailKind;
  subject?: string;
  html?: string;
  variables?: Record<string, unknown>;
}

async function enqueue(wanted: readonly Wanted[]): Promise<string[]> {
  return transaction(database, async (tx) => {
    // Use a separate domain for each, because destination limits are tested in sender-pace.test.ts.
    const contacts = wanted.map(({ project = projectId }, at) => ({
      projectId: project,
      id: newId(),
      email: `${newId()}@d${at}.example.com`,
      subscribed: true,
    }));
    await tx.insertInto("contacts").values(contacts).execute();
    return enqueueEmails(
      tx,
      wanted.map(
        (
          {
            project = projectId,
            kind = "TRANSACTIONAL",
            subject = "Hello",
            html = "<p>Hi</p>",
            variables = {},
          },
          at,
        ) => ({
          projectId: project,
          contactId: contacts[at]?.id ?? "",
          kind,
          to: { address: contacts[at]?.email ?? "", name: null },
          copies: null,
          content: makeContent({
            projectId: project,
            from: { address: "me@sender.example", name: null },
            replyTo: null,
            subject,
            html,
            text: null,
            headers: [],
            attachments: [],
          }),
          variables,
        }),
      ),
    );
  });
}

async function statusOf(id: string): Promise<string> {
  const row = await database
    .selectFrom("emails as e")
    .select(statusOfEmail.as("status"))
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return row.status;
}

async function until(id: string, status: string): Promise<void> {
  await vi.waitFor(async () => expect(await statusOf(id)).toBe(status), WAIT);
}

const isOverdue = sql<boolean>`due_at <= now()`;

test("renders a queued email with contact data and variables, sends it once and records it", async () => {
  const [id = ""] = await enqueue([
    {
      subject: "{{plan}} {{code}}",
      html: '<a href="{{unsubscribeUrl}}">{{data.plan}}</a>',
      variables: { code: 7 },
    },
  ]);
  await start();
  await until(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
  const raw = transport.handedOver[0]?.raw.toString() ?? "";
  expect(raw).toContain("Subject: pro 7\r\n");
  expect(raw).toContain(`Message-ID: <${id}@sender.example>\r\n`);
  const email = await readEmail(database, projectId, id);
  expect(email.attempts).toBe(1);
  expect(email.timeline.map((item) => item.detail ?? item.type)).toEqual([
    "queued",
    "sent: 250 2.0.0 taken (scripted)",
    "email.sent",
  ]);
});

test("keeps an email queued with the reply after a temporary error and then sends it", async () => {
  transport.play = refuseWith({ kind: "deferred", answer: "451 4.7.1 later" });
  const [id = ""] = await enqueue([{}]);
  const sender = await start();
  await vi.waitFor(async () => expect((await readEmail(database, projectId, id)).attempts).toBe(1), WAIT);
  const waiting = await database
    .selectFrom("emails")
    .select(["status", "reason", isOverdue.as("overdue")])
    .executeTakeFirstOrThrow();
  expect(waiting).toEqual({ status: "QUEUED", reason: "451 4.7.1 later", overdue: false });
  transport.play = takeEverything;
  await sql`update emails set due_at = now()`.execute(database);
  sender.wake();
  await until(id, "SENT");
  expect((await readEmail(database, projectId, id)).timeline.map((item) => item.detail ?? item.type)).toEqual(
    ["queued", "deferred: 451 4.7.1 later (scripted)", "sent: 250 2.0.0 taken (scripted)", "email.sent"],
  );
});

test("frees the memory of a message only after it was sent", async () => {
  const raws: Buffer[] = [];
  const outcomes: Outcome[] = [{ kind: "deferred", answer: "451 4.2.0 later", retryAfterMs: 0 }, TAKEN];
  transport.play = async (message, mayLeave) => {
    raws.push(message.raw);
    return (await mayLeave()) ? (outcomes[raws.length - 1] ?? TAKEN) : { kind: "withdrawn" };
  };
  const [id = ""] = await enqueue([{}]);
  await start();
  await until(id, "SENT");
  expect(raws).toHaveLength(2);
  expect(raws[0]?.toString()).toContain("Subject: Hello");
  expect(raws[1]).toHaveLength(0);
});

test("fails an email with the server's reply after a permanent error and does not retry it", async () => {
  transport.play = refuseWith({ kind: "rejected", answer: "550 5.1.1 no such user" });
  const [id = ""] = await enqueue([{}]);
  await start();
  await until(id, "FAILED");
  expect(await readEmail(database, projectId, id)).toMatchObject({
    reason: "550 5.1.1 no such user",
    attempts: 1,
    sentAt: null,
  });
});

/** Returns how long an email waits after its first attempt, or 0 before that. */
async function waitMsOf(id: string): Promise<number> {
  const { rows } = await sql<{ waitMs: number }>`
    select (extract(epoch from due_at - now()) * 1000)::float8 as wait_ms from emails
    where id = ${id} and status = 'QUEUED' and attempts = 1`.execute(database);
  return rows[0]?.waitMs ?? 0;
}

test.each([
  ["TRANSACTIONAL", 2],
  ["CAMPAIGN", 1],
] as const)(
  "submits %s email without a reply %i time(s) and then marks it as unconfirmed",
  async (kind, times) => {
    transport.play = async (_message, mayLeave) =>
      (await mayLeave()) ? { kind: "uncertain", answer: "no reply after the dot" } : { kind: "withdrawn" };
    const [id = ""] = await enqueue([{ kind }]);
    const sender = await start();
    for (let further = 1; further < times; further++) {
      await vi.waitUntil(async () => (await waitMsOf(id)) > 20_000, WAIT);
      await sql`update emails set due_at = now()`.execute(database);
      sender.wake();
    }
    await until(id, "UNCONFIRMED");
    expect(transport.handedOver).toHaveLength(times);
    expect(new Set(transport.handedOver.map((message) => message.raw.toString())).size).toBe(1);
  },
);

test("fails a poison email alone with the reason and sends the rest of its batch", async () => {
  const ids = await enqueue([
    {},
    {
      html: "{{#each a}}{{#each ../a}}{{#each ../../a}}x{{/each}}{{/each}}{{/each}}",
      variables: { a: Array.from({ length: 3_000 }, () => 1) },
    },
    {},
  ]);
  await start();
  await until(ids[1] ?? "", "FAILED");
  await until(ids[0] ?? "", "SENT");
  await until(ids[2] ?? "", "SENT");
  expect((await readEmail(database, projectId, ids[1] ?? "")).reason).toMatch(/250 ms/);
});

test("requeues batches that cannot be prepared and sends each email once later", async () => {
  failures = 2;
  const ids = await enqueue(Array.from({ length: 150 }, () => ({})));
  await start();
  for (const id of ids) await until(id, "SENT");
  expect(transport.handedOver.map(({ emailId }) => emailId).sort()).toEqual(ids.toSorted());
});

test("fails an email with the reason if its domain may not send", async () => {
  signing = { kind: "refused", reason: "The domain sender.example is not verified in this project." };
  const [id = ""] = await enqueue([{}]);
  await start();
  await until(id, "FAILED");
  expect(transport.handedOver).toHaveLength(0);
});

test("submits each email once with two senders on one outbox", async () => {
  const other = createScriptedTransport();
  const ids = await enqueue(Array.from({ length: 200 }, () => ({})));
  await Promise.all([start(transport), start(other)]);
  await vi.waitFor(async () => {
    const sent = await database.selectFrom("emails").select("id").where("status", "=", "SENT").execute();
    expect(sent).toHaveLength(ids.length);
  }, WAIT);
  const left = [...transport.handedOver, ...other.handedOver].map((message) => message.emailId);
  expect(left.toSorted()).toEqual(ids.toSorted());
});

test("sends transactional email before campaign email that waited longer", async () => {
  const campaign = await enqueue(Array.from({ length: 20 }, () => ({ kind: "CAMPAIGN" as const })));
  const [urgent = ""] = await enqueue([{}]);
  // Without this, batches are prepared in parallel, and one claimed later may be ready first.
  await start(transport, { inOrder: true });
  await until(campaign[0] ?? "", "SENT");
  // The first claimed email is not always sent first, because all connections run concurrently.
  const first = transport.handedOver.slice(0, CONNECTIONS).map(({ emailId }) => emailId);
  expect(first).toContain(urgent);
});

test("keeps the emails of a disabled project queued", async () => {
  const disabled = await createProjectRow();
  await sql`update project_queues set is_open = false where project_id = ${disabled}`.execute(database);
  const [held = ""] = await enqueue([{ project: disabled }]);
  const [free = ""] = await enqueue([{}]);
  await start();
  await until(free, "SENT");
  expect(await statusOf(held)).toBe("QUEUED");
});

test("submits nothing after being declared dead, and another sender sends the emails once", async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  transport.play = async (_message, mayLeave) => {
    reached.resolve();
    await held.promise;
    return (await mayLeave()) ? { kind: "sent", answer: "250 ok" } : { kind: "withdrawn" };
  };
  const [id = ""] = await enqueue([{}]);
  await start();
  await reached.promise;
  const other = createScriptedTransport();
  const second = await start(other);
  // Simulates the recovery from an expired lease. Notify only the second sender, because the first might look for work too.
  await sql`delete from senders where id = (select sender_id from emails)`.execute(database);
  await sql`update emails set status = 'QUEUED', sender_id = null`.execute(database);
  second.wake();
  await until(id, "SENT");
  held.resolve();
  await senders[0]?.stop();
  expect(transport.handedOver.length + other.handedOver.length).toBe(1);
});

test.each([
  ["CLAIMED", "TRANSACTIONAL", "SENT", 1],
  ["CLAIMED", "CAMPAIGN", "SENT", 1],
  ["SENDING", "TRANSACTIONAL", "SENT", 1],
  ["SENDING", "CAMPAIGN", "UNCONFIRMED", 0],
] as const)("settles a dead sender's %s %s email as %s", async (left, kind, end, submissions) => {
  const [id = ""] = await enqueue([{ kind }]);
  const dead = newId();
  await markInDoubt(database, dead, id);
  if (left === "CLAIMED") await sql`update senders set in_doubt = '{}' where id = ${dead}`.execute(database);
  await expireLease(database, dead);
  await start();
  await until(id, end);
  expect(transport.handedOver).toHaveLength(submissions);
  expect(await database.selectFrom("senders").select("id").where("id", "=", dead).execute()).toEqual([]);
});

test("keeps the emails of a live sender however long a submission takes", async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const [id = ""] = await enqueue([{ kind: "CAMPAIGN" }]);
  transport.play = async (message, mayLeave) => {
    if (message.emailId !== id) return takeEverything(message, mayLeave);
    const mayGo = await mayLeave();
    reached.resolve();
    await held.promise;
    return mayGo ? { kind: "sent", answer: "250 ok" } : { kind: "withdrawn" };
  };
  await start();
  await reached.promise;
  const other = createScriptedTransport();
  await start(other);
  // Many heartbeats of the other sender pass, each of which looks for dead senders.
  const [free = ""] = await enqueue([{}]);
  await vi.waitFor(
    async () => expect([await statusOf(free), await statusOf(id)]).toEqual(["SENT", "SENDING"]),
    WAIT,
  );
  held.resolve();
  await until(id, "SENT");
});

test.each([
  ["before it was committed", false],
  ["after it was committed", true],
])("requeues and sends an email if its pre-send check fails %s", async (_when, passes) => {
  const [id = ""] = await enqueue([{ kind: "CAMPAIGN" }]);
  transport.play = async (_message, mayLeave) => {
    transport.play = takeEverything;
    if (passes) await mayLeave();
    throw new Error("the database went away");
  };
  await start();
  await until(id, "SENT");
  expect((await readEmail(database, projectId, id)).attempts).toBe(1);
});

test("finishes open submissions on stop and requeues the rest unchanged", async () => {
  const held = Promise.withResolvers<void>();
  transport.play = async (_message, mayLeave) => {
    const mayGo = await mayLeave();
    await held.promise;
    return mayGo ? { kind: "sent", answer: "250 ok" } : { kind: "withdrawn" };
  };
  const ids = await enqueue(Array.from({ length: 30 }, () => ({})));
  const sender = await start();
  await vi.waitFor(() => expect(transport.handedOver).toHaveLength(5), WAIT);
  const stopped = sender.stop();
  held.resolve();
  await stopped;
  const rows = await database.selectFrom("emails").select(["status", "attempts"]).execute();
  expect(rows.filter((row) => row.status === "SENT")).toHaveLength(transport.handedOver.length);
  expect(rows.filter((row) => row.status === "QUEUED" && row.attempts === 0)).toHaveLength(
    ids.length - transport.handedOver.length,
  );
  expect(await database.selectFrom("senders").select("id").execute()).toEqual([]);
});

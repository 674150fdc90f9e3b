// The sender against a real PostgreSQL: what it promises about every mail in the outbox (promises P1–P5, P9, P10).
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { sql } from "kysely";
import type { EmailKind } from "@postloft/contract/emails.ts";
import { createDatabase, transaction, type Database } from "../../platform/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/test-database.ts";
import { addProject } from "../../testing/add-project.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import {
  createScriptedTransport,
  refuseWith,
  TAKEN,
  takeEverything,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { letLeaseRunOut, putInHandover } from "../../testing/outbox-fixture.ts";
import { enqueueEmails, makeContent } from "../outbox/emails.ts";
import { readEmail } from "../../testing/read-email.ts";
import { standing } from "../handover/handover-queries.ts";
import { createPreparer, type SigningKey } from "./prepare-emails.ts";
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
/** So many batches cannot be prepared, since the database is away. */
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
    surroundings: {
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

/** Batches are ready in the order they were claimed in. */
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
    // Each at a domain of its own: how many go to one at once is the matter of sender-pace.test.ts.
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
    .select(standing.as("status"))
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return row.status;
}

async function until(id: string, status: string): Promise<void> {
  await vi.waitFor(async () => expect(await statusOf(id)).toBe(status), WAIT);
}

const isOverdue = sql<boolean>`due_at <= now()`;

test("a queued mail is rendered with the contact's data under the request's, handed over once, and booked as sent with its event", async () => {
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

test("a temporary refusal leaves the mail waiting for a later attempt, with what was answered, and the next one sends it", async () => {
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

test("a message gives its memory back when it was sent, and only then: what failed may still be on its way", async () => {
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

test("a permanent refusal fails the mail with the server's answer, and it is not tried again", async () => {
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

/** How long a mail that was tried once waits; 0 before that. */
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
  "%s mail whose handover got no answer leaves %i time(s) under one Message-ID and is then listed as unconfirmed",
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

test("a poison mail fails alone, with the reason; the others of its batch are sent", async () => {
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

test("batches that cannot be prepared go back and are sent later, each mail once", async () => {
  failures = 2;
  const ids = await enqueue(Array.from({ length: 150 }, () => ({})));
  await start();
  for (const id of ids) await until(id, "SENT");
  expect(transport.handedOver.map(({ emailId }) => emailId).sort()).toEqual(ids.toSorted());
});

test("no mail leaves from a domain that may not send: it fails with the reason instead", async () => {
  signing = { kind: "refused", reason: "The domain sender.example is not verified in this project." };
  const [id = ""] = await enqueue([{}]);
  await start();
  await until(id, "FAILED");
  expect(transport.handedOver).toHaveLength(0);
});

test("two senders on one outbox hand each mail over once", async () => {
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

test("transactional mail goes before campaign mail that waited longer", async () => {
  const campaign = await enqueue(Array.from({ length: 20 }, () => ({ kind: "CAMPAIGN" as const })));
  const [urgent = ""] = await enqueue([{}]);
  // Batches are prepared side by side otherwise, and one that was claimed later may be ready first.
  await start(transport, { inOrder: true });
  await until(campaign[0] ?? "", "SENT");
  // Who is claimed first need not be handed over first: as many as there are connections are under way at once.
  const first = transport.handedOver.slice(0, CONNECTIONS).map(({ emailId }) => emailId);
  expect(first).toContain(urgent);
});

test("mail of a disabled project stays where it is", async () => {
  const disabled = await createProjectRow();
  await sql`update project_queues set is_open = false where project_id = ${disabled}`.execute(database);
  const [held = ""] = await enqueue([{ project: disabled }]);
  const [free = ""] = await enqueue([{}]);
  await start();
  await until(free, "SENT");
  expect(await statusOf(held)).toBe("QUEUED");
});

test("a sender that was declared dead hands nothing over any more, and its mails are sent by another, once", async () => {
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
  // What a recovering process does to a sender whose lease ran out. The other one is woken: the first might look as well.
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
] as const)("what a killed sender left %s (%s) ends %s by itself", async (left, kind, end, handovers) => {
  const [id = ""] = await enqueue([{ kind }]);
  const dead = newId();
  await putInHandover(database, dead, id);
  if (left === "CLAIMED") await sql`update senders set in_doubt = '{}' where id = ${dead}`.execute(database);
  await letLeaseRunOut(database, dead);
  await start();
  await until(id, end);
  expect(transport.handedOver).toHaveLength(handovers);
  expect(await database.selectFrom("senders").select("id").where("id", "=", dead).execute()).toEqual([]);
});

test("a sender that lives keeps its mails, however long their handover takes", async () => {
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
  // Many beats of the other sender pass; each one looks for the dead.
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
])("a mail whose handover check broke %s goes back by itself and is sent", async (_when, passes) => {
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

test("stopping ends what is in handover and gives the rest back untouched", async () => {
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

// Tests the sender with the statements for a cluster. One PostgreSQL accepts them too, and `npm run sharded` runs all tests on a cluster.
import { sql } from "kysely";
import { beforeEach, expect, test, vi } from "vitest";
import { treatAsCluster } from "../../platform/database/cluster.ts";
import { createDatabase, createPool, transaction, type Database } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { acceptedOutcome } from "../../testing/accepted-outcome.ts";
import { erasedPeople } from "../../testing/erased-people.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { createScriptedTransport } from "../../testing/scripted-transport.ts";
import { eraseRecipients } from "../outbox/erase-queries.ts";
import { recordLate } from "../results/late-replies.ts";
import { listDueQueues } from "./due-queue-queries.ts";
import { measureQueue } from "./measure-queries.ts";

const outbox = useOutbox();

beforeEach(() => treatAsCluster(outbox.database));

const textOf = (due: object) => JSON.stringify(due);

/** Uses the statements for one PostgreSQL, until `work` ends. */
async function onOnePostgres<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: outbox.connection, maxConnections: 1, log });
  try {
    return await work(createDatabase(pool));
  } finally {
    await pool.end();
  }
}

test("lists the same due queues on a cluster as on one PostgreSQL", async () => {
  const [other, closed, later] = [
    await outbox.createProject(),
    await outbox.createProject(),
    await outbox.createProject(),
  ];
  const campaignId = newId();
  await outbox.enqueue([
    { kind: "TRANSACTIONAL" },
    { kind: "CAMPAIGN" },
    { kind: "WORKFLOW", project: other },
    { kind: "CAMPAIGN", project: other, campaignId },
    { kind: "TRANSACTIONAL", project: closed },
  ]);
  const [waiting = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL", project: later }]);
  await sql`update emails set due_at = now() + interval '1 hour' where id = ${waiting}`.execute(
    outbox.database,
  );
  await sql`update project_queues set is_open = false where project_id = ${closed}`.execute(outbox.database);
  await sql`
    insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
    select project_id, ${newId()}, ${campaignId}, content_id, array[new_id()], array[new_id()], array['a@b.example'], array['b.example']
    from emails where campaign_id = ${campaignId}`.execute(outbox.database);
  const found = await listDueQueues(outbox.database, false);
  expect(found).toHaveLength(5);
  const expected = await onOnePostgres((database) => listDueQueues(database, false));
  expect(found.map(textOf).toSorted()).toEqual(expected.map(textOf).toSorted());
  await sql`delete from recipient_batches`.execute(outbox.database);
});

/** Returns the priorities with due emails. */
const dueOf = async (database: Database) =>
  (await measureQueue(database))
    .flatMap(({ priority, due }) => (due === 0 ? [] : [{ priority, due }]))
    .toSorted((one, other) => one.priority - other.priority);

test("measures the same queue on a cluster as on one PostgreSQL", async () => {
  await outbox.enqueue([{ kind: "TRANSACTIONAL" }, { kind: "TRANSACTIONAL" }, { kind: "CAMPAIGN" }]);
  const found = await dueOf(outbox.database);
  expect(found[0]).toEqual({ priority: 1, due: 2 });
  expect(found).toEqual(await onOnePostgres(dueOf));
});

test("a deletion skips the email that has not left and leaves the one in submission", async () => {
  const ids = await outbox.enqueue([{ kind: "TRANSACTIONAL" }, { kind: "TRANSACTIONAL" }]);
  const [waiting = "", leaving = ""] = ids;
  const senderId = newId();
  await sql`insert into senders (id, lease_until, in_doubt)
    values (${senderId}, now() + interval '1 hour', array[${leaving}::uuid])`.execute(outbox.database);
  await sql`update emails set status = 'CLAIMED', sender_id = ${senderId} where id = any(${ids}::uuid[])`.execute(
    outbox.database,
  );
  const contactIds = await Promise.all(ids.map(async (id) => (await outbox.row(id)).contactId ?? ""));
  await transaction(outbox.database, (tx) => eraseRecipients(tx, outbox.projectId, erasedPeople(contactIds)));
  expect((await outbox.row(waiting)).status).toBe("SKIPPED");
  expect((await outbox.row(leaving)).status).toBe("SENDING");
});

test("sends and records email of several projects with a statement for each", async () => {
  const other = await outbox.createProject();
  const transport = createScriptedTransport();
  const projects = [outbox.projectId, other];
  const ids = await outbox.enqueue(
    projects.flatMap((project) => [
      { project, kind: "TRANSACTIONAL" as const },
      { project, listKind: "MARKETING" as const },
      { project, listKind: "MARKETING" as const, subscribed: false },
      { project },
      { project, campaignId: newId(), listKind: "MARKETING" as const },
    ]),
  );
  await outbox.start(transport);
  await vi.waitFor(
    async () => expect(await outbox.countByStatus()).toEqual({ SENT: 8, SKIPPED: 2 }),
    OUTBOX_WAIT,
  );
  expect(ids).toHaveLength(10);
});

const recordSent = (statement: string) => sql`
  create or replace function record_sent() returns trigger language plpgsql as
    ${sql.lit(`begin ${statement}; return new; end`)}`;

/** Runs `statement` whenever an email of a project is recorded as sent. */
async function whenRecorded(project: string, statement: string): Promise<void> {
  await recordSent(statement).execute(outbox.database);
  await sql`
    create trigger record_sent before update on emails for each row
    when (new.status = 'SENT' and new.project_id = ${sql.lit(project)}) execute function record_sent()`.execute(
    outbox.database,
  );
}

const AWAY = "raise exception 'connection to the remote node failed' using errcode = '08006'";
/** Longer than `OUTBOX_WAIT`. */
const HANGS = "perform pg_sleep(30)";

test.for([
  { node: "is away", statement: AWAY },
  { node: "hangs", statement: HANGS },
])("records email of other projects while the node of one $node", async ({ statement }) => {
  // The project that was created first is recorded first.
  const [failing, own] = [outbox.projectId, await outbox.createProject()];
  const transport = createScriptedTransport();
  await whenRecorded(failing, statement);
  const [unrecorded = "", recorded = ""] = await outbox.enqueue([{ project: failing }, { project: own }]);
  await outbox.start(transport);
  await outbox.until(recorded, "SENT");
  await vi.waitFor(() => expect(transport.handedOver).toHaveLength(2), OUTBOX_WAIT);
  expect((await outbox.row(unrecorded)).status).toBe("SENDING");
  await recordSent("perform 1").execute(outbox.database);
  await outbox.until(unrecorded, "SENT");
  expect(transport.handedOver).toHaveLength(2);
  await sql`drop function record_sent cascade`.execute(outbox.database);
});

test("records late replies of each project in a transaction of its own", async () => {
  const projects = [outbox.projectId, await outbox.createProject()];
  const ids = await outbox.enqueue(projects.map((project) => ({ project })));
  await sql`update emails set status = 'UNCONFIRMED', attempts = 1`.execute(outbox.database);
  const replies = pairUp(projects, ids).map(([project, id]) => ({
    outcome: acceptedOutcome(project, id),
    attempt: 1,
  }));
  expect((await recordLate(outbox.database, replies)).sent.toSorted()).toEqual(ids.toSorted());
  const { rows } = await sql`select distinct xmin::text from emails`.execute(outbox.database);
  expect(rows).toHaveLength(2);
});

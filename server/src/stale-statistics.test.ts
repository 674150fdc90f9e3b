// Checks that hot statements use full keys even if PostgreSQL last analyzed their tables when they were nearly empty.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { createDatabase, createPool, transaction } from "./platform/database/database.ts";
import { newId } from "./platform/ids.ts";
import { createLog } from "./platform/log.ts";
import { recipientsOf } from "./contacts/recipients.ts";
import { createScriptedTransport } from "./testing/scripted-transport.ts";
import { addSendingCampaign, OUTBOX_WAIT, useOutbox } from "./testing/outbox-fixture.ts";
import { hasPendingRecipients, snapshotRecipients } from "./emails/outbox/campaign-emails.ts";
import { makeContent, storeContents } from "./emails/outbox/emails.ts";
import { findReturnedMails } from "./emails/returned/returned-emails.ts";
import { readDataPatch } from "./contacts/rules.ts";
import { upsertContacts, upsertContactsWithEvents } from "./contacts/upsert-contacts.ts";
import { createDeliveries } from "./deliveries/deliveries.ts";
import { recordActivities } from "./deliveries/tracking/record-activity.ts";

const outbox = useOutbox();
const deliveries = createDeliveries({ guard: async () => undefined });

/** The number of contacts, sent emails and events before the measured work begins. */
const GROWN_TO = 8_000;
/** The number of contacts in each part of the work. */
const BATCH = 400;
/**
 * Rows of one table, or entries of one index, that all of the work may read. Hash joins scan a table a few times, while looking up each
 * contact of a batch among all contacts costs `BATCH` times that.
 */
const MAX_READ = 15 * GROWN_TO;

const addressOf = (at: number) => `c${at}@d${at % 50}.example.com`;
const patch = (n: number) => readDataPatch({ n });

async function eachTable(statement: (table: string) => string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select format('%I', relname) as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(outbox.database);
  for (const { name } of rows) await sql.raw(statement(name)).execute(outbox.database);
}

/** Adds contacts, emails and events to a project until it has `count` of each. */
async function growTo(count: number, projectId = outbox.projectId): Promise<void> {
  const { database } = outbox;
  const content = makeContent({ ...contentParts(), projectId });
  await transaction(database, (tx) => storeContents(tx, [content]));
  await sql`
    with c as (
      insert into contacts (project_id, id, email, subscribed)
      select ${projectId}, new_id(), 'c' || n || '@d' || n % 50 || '.example.com', true
      from generate_series((select count(*) from contacts where project_id = ${projectId}) + 1, ${count}) n
      returning id, email
    ), m as (
      insert into emails (project_id, id, contact_id, content_id, priority, to_address, status, sent_at)
      select ${projectId}, new_id(), id, ${content.id}, 1, email, 'SENT', now() from c
    )
    insert into events (project_id, id, contact_id, name) select ${projectId}, new_id(), id, 'seen' from c`.execute(
    database,
  );
}

const contentParts = () => ({
  projectId: outbox.projectId,
  from: { address: "me@sender.example", name: null },
  replyTo: null,
  subject: "Hello",
  html: "<p>Hi</p>",
  text: null,
  headers: [],
  attachments: [],
  listKind: "MARKETING" as const,
});

/** Runs the daily work of a busy installation for a few hundred contacts each: import, track, send, a campaign, reports, clicks. */
async function work(): Promise<void> {
  const { projectId } = outbox;
  // A separate pool, because its connections have no cached plans.
  const pool = createPool({
    connection: outbox.connection,
    maxConnections: 2,
    log: createLog({ level: "silent" }),
  });
  const database = createDatabase(pool);
  const places = Array.from({ length: BATCH }, (_, at) => at * 10);
  await transaction(database, (tx) =>
    upsertContacts(
      tx,
      places.map((at) => ({
        projectId,
        email: addressOf(at + (at % 20 === 0 ? GROWN_TO : 1)),
        subscribedIfNew: true,
        patch: patch(at),
        via: { source: "import", actor: null, ip: null },
      })),
    ),
  );
  await upsertContactsWithEvents(
    database,
    places.map((at) => ({
      change: {
        projectId,
        email: addressOf(at + 2),
        subscribedIfNew: true,
        patch: patch(at),
        via: { source: "api", actor: null, ip: null },
      },
      event: "seen",
      data: null,
    })),
  );
  const { rows } = await sql<{ id: string; contactId: string }>`
    select id, contact_id from emails where project_id = ${projectId} order by id limit ${BATCH}`.execute(
    outbox.database,
  );
  await transaction(database, async (tx) => {
    const mails = await findReturnedMails(
      tx,
      rows.map(({ id }) => ({ projectId, emailId: id, providerId: null })),
    );
    await deliveries.applyReports(
      tx,
      mails.flatMap((mail) =>
        mail === null ? [] : [{ mail, kind: "delivered" as const, at: null, data: {} }],
      ),
    );
  });
  await transaction(database, (tx) =>
    recordActivities(
      tx,
      rows.map(({ id }) => ({
        projectId,
        emailId: id,
        kind: "open" as const,
        number: 0,
        link: null,
        at: new Date(),
        userAgent: "Mozilla/5.0 (Windows NT 10.0) Chrome/142.0.0.0 Safari/537.36",
        purpose: "",
        otherLinkMs: Number.POSITIVE_INFINITY,
        isLast: true,
      })),
    ),
  );
  await pool.end();
}

/** Sends a campaign to some contacts and as many single emails, with a sender that submits all of them. */
async function send(): Promise<void> {
  const { database, projectId } = outbox;
  const key = { projectId, campaignId: newId() };
  await addSendingCampaign(database, key);
  await transaction(database, (tx) =>
    snapshotRecipients(
      tx,
      key,
      makeContent(contentParts()),
      recipientsOf(key.projectId, sql<boolean>`c.email like '%@d7.example.com'`),
    ),
  );
  const singles = await outbox.enqueue(
    Array.from({ length: 60 }, () => ({ kind: "TRANSACTIONAL" as const })),
  );
  const sender = await outbox.start(createScriptedTransport());
  await vi.waitFor(async () => {
    expect(await hasPendingRecipients(database, key)).toBe(false);
    expect((await outbox.row(singles.at(-1) ?? "")).status).toBe("SENT");
  }, OUTBOX_WAIT);
  await sender.stop();
}

/** Ends all connections so that their reads are counted, because connections report their reads only once a second and when they end. */
async function endReading(): Promise<void> {
  const { database } = outbox;
  await sql`select pg_terminate_backend(pid, 10_000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(
    database,
  );
  await sql`select pg_stat_force_next_flush()`.execute(database);
}

/** Lists tables and indexes with more reads than the work justifies. */
async function listReadTooMuch(): Promise<Array<{ name: string; reads: number }>> {
  await endReading();
  const { rows } = await sql<{ name: string; reads: number }>`
    select name, reads from (
      select relname as name, seq_tup_read as reads from pg_stat_user_tables
      union all select indexrelname, idx_tup_read from pg_stat_user_indexes) r
    where reads > ${MAX_READ}`.execute(outbox.database);
  return rows;
}

test.each([
  { rows: 0, whose: "any project" },
  { rows: 1, whose: "the project" },
  { rows: 50, whose: "the project" },
  { rows: 50, whose: "another project" },
])(
  "after an analysis at $rows rows of $whose a busy day reads only the rows that it is about",
  async ({ rows, whose }) => {
    const { database } = outbox;
    // Deleted rows would leave their pages, which the planner counts.
    await sql`truncate contacts, emails, events cascade`.execute(database);
    await eachTable((table) => `alter table ${table} set (autovacuum_enabled = false)`);
    if (whose === "another project") await growTo(rows, await outbox.createProject());
    else if (rows > 0) {
      await growTo(rows);
      await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
    }
    await sql`analyze`.execute(database);
    await growTo(GROWN_TO);
    await endReading();
    await sql`select pg_stat_reset()`.execute(database);
    await work();
    await send();
    expect(await listReadTooMuch()).toEqual([]);
  },
  60_000,
);

test("every table with a project_id declares that a project has many rows", async () => {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'project_id'
      and a.attoptions is distinct from array['n_distinct=10']`.execute(outbox.database);
  expect(rows).toEqual([]);
});

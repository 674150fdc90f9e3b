// Creates the data of `npm run bench reports`: one project with many emails and events over 90 days, next to a thousand small ones.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import * as names from "@postloft/contract/event-names.ts";
import { createPool, type Database } from "../server/src/platform/database/database.ts";
import { startEmbeddedPostgres } from "../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { migrate } from "../server/src/platform/database/migrations.ts";
import { addProject } from "../server/src/testing/add-project.ts";
import { makeDataFolder } from "../e2e/program.ts";
import { progress } from "./table.ts";

export interface ReportSize {
  mails: number;
  events: number;
  neighbours: number;
}

/** The measured project. */
export interface ReportProject {
  id: string;
  campaignId: string;
  contactId: string;
}

/** Metadata stored next to a kept database. */
interface KeptReportData {
  size: ReportSize;
  project: ReportProject;
  /** Null until everything is counted. */
  countedMs: number | null;
}

/** Starts a migrated PostgreSQL. `kept` is a folder to reuse in later runs; null uses a temporary one. */
export async function startReportDatabase(kept: string | null) {
  const folder = kept === null ? await makeDataFolder() : { path: kept, remove: async () => undefined };
  const postgres = await startEmbeddedPostgres({ dataDir: folder.path, log: progress });
  const { superuser: connection } = postgres;
  const pool = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  await migrate(pool);
  await pool.end();
  const note = join(folder.path, "ground.json");
  return {
    connection,
    /** @throws Error if the folder has data of another size or is incomplete */
    async read(size: ReportSize): Promise<KeptReportData | null> {
      if (!existsSync(note)) return null;
      const known = JSON.parse(await readFile(note, "utf8")) as KeptReportData | { size: ReportSize };
      if (!("project" in known) || JSON.stringify(known.size) !== JSON.stringify(size))
        throw new Error(
          `${folder.path} has data of another size, or is incomplete: ${JSON.stringify(known.size)}`,
        );
      return known;
    },
    write: (what: KeptReportData | { size: ReportSize }) => writeFile(note, JSON.stringify(what)),
    async stop() {
      await postgres.stop();
      await folder.remove();
    },
  };
}

/** Recipients of each campaign. */
const CONTACTS = 20_000;
const ROWS_AT_ONCE = 50_000;
export const DAYS_OF_FIXTURE = 90;
const MAILS_OF_NEIGHBOUR = 20;
const DOMAINS = "gmail.com hotmail.com yahoo.com icloud.com web.de corp.example.org example.com example.net";
const OTHER_NAMES =
  "page_viewed page_viewed page_viewed page_viewed signed_in signed_in feature_used cart_updated purchase contact.subscribed contact.unsubscribed";

/** The share of emails with each report, in percent. */
const CAME_BACK = [
  { name: names.EMAIL_DELIVERY, percent: 97, data: "{}" },
  { name: names.EMAIL_OPEN, percent: 30, data: '{"isFirst": true}' },
  { name: names.EMAIL_MACHINE_OPEN, percent: 15, data: "{}" },
  { name: names.EMAIL_CLICK, percent: 6, data: '{"isFirst": true}' },
  { name: names.EMAIL_BOUNCE, percent: 2, data: '{"bounceType": "hard"}' },
];
const EVENTS_A_MAIL = CAME_BACK.reduce((sum, { percent }) => sum + percent, 0) / 100;

/** Returns the time of row `n` of `total`: evenly distributed, the last one a few minutes ago. */
const atOf = (total: number) =>
  sql`now() - interval '5 minutes' - (1 - n::float8 / ${total}) * interval '${sql.raw(String(DAYS_OF_FIXTURE))} days'`;

async function addContacts(database: Database, projectId: string, contacts: number): Promise<void> {
  await sql`
    insert into contacts (project_id, id, email, subscribed)
    select ${projectId}::uuid, new_id(), 'c' || n || '@' || (string_to_array(${DOMAINS}, ' '))[1 + n % 8], true
    from generate_series(1, ${contacts}::int) n`.execute(database);
}

/** Creates one campaign and one workflow for each mailing. */
async function addOccasions(database: Database, projectId: string, occasions: number): Promise<void> {
  await sql`
    insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status, total_recipients, finished_at)
    select ${projectId}::uuid, new_id(), 'Campaign ' || n, 'Hello', '<p>Hello</p>', 'news@shop.example', 'ALL', 'SENT', ${CONTACTS}::int, now()
    from generate_series(1, ${occasions}::int) n`.execute(database);
  await sql`
    insert into workflows (project_id, id, name) select ${projectId}::uuid, new_id(), 'Workflow ' || n
    from generate_series(1, 20) n`.execute(database);
}

/** Numbers the campaigns, workflows and contacts in temporary tables, analyzed for the planner. */
async function numberOccasions(database: Database, projectId: string): Promise<void> {
  const numbered = (table: string, of: string) => sql`
    create temp table ${sql.table(table)} as
    select o.*, row_number() over (order by o.id) - 1 as at from ${sql.table(of)} o where o.project_id = ${projectId}`;
  await numbered("people", "contacts").execute(database);
  await numbered("occasions", "campaigns").execute(database);
  await numbered("flows", "workflows").execute(database);
  await sql`create temp table back as
    select * from unnest(${CAME_BACK.map(({ name }) => name)}::text[], ${CAME_BACK.map(({ percent }) => percent)}::int[],
      ${CAME_BACK.map(({ data }) => data)}::text[]) b (name, percent, data)`.execute(database);
  for (const table of ["people", "occasions", "flows", "back"])
    await sql`analyze ${sql.table(table)}`.execute(database);
}

/** Adds emails to all contacts: half of the mailings are campaigns, a quarter are workflows, the rest are transactional. */
async function addMails(database: Database, projectId: string, mails: number): Promise<void> {
  const contentId = newId();
  await sql`
    insert into email_contents (project_id, id, from_address, subject, html)
    values (${projectId}, ${contentId}, 'news@shop.example', 'Hello', '<p>Hello</p>')`.execute(database);
  for (let from = 0; from < mails; from += ROWS_AT_ONCE) {
    const until = Math.min(from + ROWS_AT_ONCE, mails) - 1;
    await sql`
      with sent as (
        insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, due_at, created_at, sent_at,
          delivered_at, campaign_id, workflow_id)
        select ${projectId}::uuid, sent_event_id(gen_random_uuid(), m.sent_at), p.id, ${contentId}::uuid,
          case when o.at % 2 = 0 then 3 when o.at % 4 = 1 then 2 else 1 end, 'DELIVERED', p.email, m.sent_at, m.sent_at, m.sent_at,
          m.sent_at, case when o.at % 2 = 0 then o.id end, case when o.at % 4 = 1 then f.id end
        from (select n, ${atOf(mails)} as sent_at from generate_series(${from}::int, ${until}::int) n) m
        join people p on p.at = m.n % ${CONTACTS} join occasions o on o.at = m.n / ${CONTACTS} join flows f on f.at = m.n % 20
        returning id, contact_id, sent_at
      )
      insert into events (project_id, id, contact_id, name, data, email_id, created_at)
      select ${projectId}::uuid, sent_event_id(gen_random_uuid(), s.sent_at + interval '1 minute'), s.contact_id, b.name, b.data::jsonb, s.id,
        s.sent_at + interval '1 minute'
      from sent s cross join back b where abs(hashtextextended(s.id::text || b.name, 7)) % 100 < b.percent`.execute(
      database,
    );
    progress(`${until + 1} of ${mails} emails`);
  }
}

async function addOtherEvents(database: Database, projectId: string, events: number): Promise<void> {
  for (let from = 0; from < events; from += ROWS_AT_ONCE) {
    const until = Math.min(from + ROWS_AT_ONCE, events) - 1;
    await sql`
      insert into events (project_id, id, contact_id, name, data, created_at)
      select ${projectId}::uuid, sent_event_id(gen_random_uuid(), m.at), p.id, (string_to_array(${OTHER_NAMES}, ' '))[1 + m.n % 11], '{"a": 1}', m.at
      from (select n, ${atOf(events)} as at from generate_series(${from}::int, ${until}::int) n) m
      join people p on p.at = (m.n::bigint * 7919) % ${CONTACTS}`.execute(database);
    progress(`${until + 1} of ${events} other events`);
  }
}

/** Runs the work without the indexes of its tables, because building them afterwards is much faster. */
async function withoutIndexes(database: Database, work: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    -- PostgreSQL shows ON ONLY for a partitioned table; without ONLY the new index covers its partitions.
    select i.indexrelid::regclass::text as name,
      replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition from pg_index i
    where i.indrelid in ('emails'::regclass, 'events'::regclass)
      and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`.execute(database);
  for (const { name } of rows) await sql.raw(`drop index ${name}`).execute(database);
  await work();
  await sql`set maintenance_work_mem = '512MB'`.execute(database);
  for (const { name, definition } of rows) {
    progress(`index ${name}`);
    await sql.raw(definition).execute(database);
  }
}

/** Adds projects with one contact and a few delivered emails. */
async function addNeighbours(database: Database, neighbours: number): Promise<void> {
  await sql`
    with small as (
      insert into projects (id, name) select new_id(), 'small ' || n from generate_series(1, ${neighbours}::int) n returning id
    ), queues as (
      insert into project_queues (project_id) select id from small
    ), people as (
      insert into contacts (project_id, id, email, subscribed) select id, new_id(), 'ada@example.com', true from small
      returning project_id, id
    ), contents as (
      insert into email_contents (project_id, id, from_address, subject, html)
      select id, new_id(), 'news@shop.example', 'Hello', '<p>Hello</p>' from small returning project_id, id
    ), sent as (
      insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, created_at, sent_at, delivered_at)
      select p.project_id, sent_event_id(gen_random_uuid(), t.at), p.id, c.id, 1, 'DELIVERED', 'ada@example.com', t.at, t.at, t.at
      from people p join contents c on c.project_id = p.project_id
      cross join lateral (select ${atOf(MAILS_OF_NEIGHBOUR)} as at from generate_series(1, ${MAILS_OF_NEIGHBOUR}::int) n) t
      returning project_id, id, contact_id, sent_at
    )
    insert into events (project_id, id, contact_id, name, data, email_id, created_at)
    select project_id, sent_event_id(gen_random_uuid(), sent_at), contact_id, ${names.EMAIL_DELIVERY}, '{}', id, sent_at from sent`.execute(
    database,
  );
}

/** Fills the database without counting anything. Requires a superuser connection, because foreign keys are not checked row by row. */
export async function createReportData(database: Database, size: ReportSize): Promise<ReportProject> {
  const id = newId();
  await sql`set session_replication_role = replica`.execute(database);
  await sql`set synchronous_commit = off`.execute(database);
  await addProject(database, { id, name: "large" });
  await addContacts(database, id, CONTACTS);
  await addOccasions(database, id, Math.ceil(size.mails / CONTACTS));
  await numberOccasions(database, id);
  await withoutIndexes(database, async () => {
    await addNeighbours(database, size.neighbours);
    await addMails(database, id, size.mails);
    await addOtherEvents(database, id, Math.max(0, size.events - Math.round(size.mails * EVENTS_A_MAIL)));
  });
  await sql`vacuum (analyze) contacts, events, emails, campaigns`.execute(database);
  const { rows } = await sql<{ campaignId: string; contactId: string }>`
    select campaign_id, contact_id from emails
    where project_id = ${id} and campaign_id is not null order by id desc limit 1`.execute(database);
  return { id, campaignId: rows[0]?.campaignId ?? "", contactId: rows[0]?.contactId ?? "" };
}

/** Adds events from the last seconds, which are not counted yet. */
export async function addNews(database: Database, projectId: string, events: number): Promise<void> {
  await sql`
    insert into events (project_id, id, contact_id, name, created_at)
    select ${projectId}::uuid, new_id(), id, 'page_viewed', now() from contacts where project_id = ${projectId} limit ${events}`.execute(
    database,
  );
}

// Statements about the installation itself.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { NO_ID } from "../platform/ids.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";

export async function countAppliedMigrations(database: Database): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::float8 as count from schema_migrations`.execute(database);
  return rows[0]?.count ?? 0;
}

/** Returns the versions of the applied migrations. */
export async function listAppliedMigrations(database: Database): Promise<number[]> {
  const { rows } = await sql<{ version: number }>`select version from schema_migrations order by 1`.execute(
    database,
  );
  return rows.map(({ version }) => version);
}

/** Returns the database server's version as a number (180004 is 18.4), and its clock. */
export async function readServer(database: Database): Promise<{ version: number; now: Date }> {
  const { rows } = await sql<{ version: number; now: Date }>`
    select current_setting('server_version_num')::integer as version, clock_timestamp() as now`.execute(
    database,
  );
  return rows[0] ?? { version: 0, now: new Date(0) };
}

/** A queue with a project's own rate may be long. It counts as moving if an email left within this many seconds. */
const MOVING_SECONDS = 120;

/**
 * Returns how many seconds the oldest waiting transactional email is overdue; 0 if none is waiting. Ignores campaigns, which may take
 * hours, and closed queues.
 */
export async function readOldestDueSeconds(database: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(extract(epoch from now() - min((
      select min(e.due_at) from emails e
      where e.project_id = q.project_id and e.priority = 1 and e.campaign_id is null and e.status = 'QUEUED' and e.due_at <= now()
    ))), 0)::float8 as seconds
    from project_queues q
    where q.is_open and (q.sending_rate is null or (
      -- The limit keeps this an index probe.
      select true from emails s
      where s.project_id = q.project_id and s.sent_at is not null and s.contact_id is not null
        and sent_event_id(s.id, s.sent_at) >= sent_event_id(${NO_ID}, now() - make_interval(secs => ${MOVING_SECONDS}))
      limit 1) is null)`.execute(database);
  return rows[0]?.seconds ?? 0;
}

/** Returns the outages of transports that live senders report. */
export async function listTransportOutages(database: Database): Promise<string[]> {
  const { rows } = await sql<{ outage: string }>`
    select distinct outage from senders, unnest(outages) as outage where lease_until > now() order by 1 limit 100`.execute(
    database,
  );
  return rows.map(({ outage }) => outage);
}

/** Returns which features a project has used so far. */
export async function readUse(database: Database, projectId: string) {
  const { rows } = await sql<{
    sentAt: Date | null;
    hasWorkflow: boolean;
    firstMailAt: Date | null;
    hasReachedMember: boolean;
  }>`
    select
      (select max(started_at) from campaigns where project_id = ${projectId}) as sent_at,
      exists (select 1 from workflows where project_id = ${projectId} and enabled) as has_workflow,
      (select created_at from emails where project_id = ${projectId} order by id limit 1) as first_mail_at,
      exists (
        select 1 from memberships m
        join users u on u.id = m.user_id
        join contacts c on c.project_id = m.project_id and c.email = u.email
        join emails e on e.project_id = c.project_id and e.contact_id = c.id
        where m.project_id = ${projectId} and e.sent_at is not null
      ) as has_reached_member`.execute(database);
  return rows[0];
}

/** Prevents other processes from creating the first account until the transaction ends. */
export async function lockBootstrap(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bootstrap', 0))`.execute(tx);
}

/** Returns whether any project has sent an email. */
export async function hasEmails(database: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from emails where project_id <> ${SYSTEM_PROJECT_ID} limit 1`.execute(
    database,
  );
  return rows.length > 0;
}

/** Returns whether a project has verified a domain other than the shared one. */
export async function hasProvenDomain(database: Database, shared: string): Promise<boolean> {
  const row = await database
    .selectFrom("domains")
    .select("id")
    .where("status", "=", "VERIFIED")
    .where("domain", "<>", shared)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns accounts in the order of their creation, with the number of their projects. */
export async function listUserRows(database: Database, after: string | null, limit: number) {
  let query = database
    .selectFrom("users as u")
    .select(["u.id", "u.email", "u.createdAt"])
    .select((select) =>
      select
        .selectFrom("memberships as m")
        .whereRef("m.userId", "=", "u.id")
        .select((count) => count.fn.countAll<number>().as("count"))
        .as("projects"),
    );
  if (after !== null) query = query.where("u.id", ">", after);
  return query.orderBy("u.id").limit(limit).execute();
}

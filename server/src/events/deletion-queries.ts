// Deletions of events by name in progress. Readers ignore these events before the job has deleted them.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

/** The kind of job that deletes the events of a name. Its input is `{name, until}`, with the time in PostgreSQL's format. */
export const DELETE_EVENTS_JOB = "events.delete";

type Expression = RawBuilder<unknown>;

/** Running deletions `j`. The states are literals, so that the index on due jobs applies. */
const runningDeletions = (projectId: string) =>
  sql`from jobs j where j.project_id = ${projectId} and j.state in ('waiting', 'active') and j.kind = ${DELETE_EVENTS_JOB}`;

const UNTIL = sql`max((j.input ->> 'until')::timestamptz)`;

/** Returns an expression for the time up to which the events of this name are being deleted, or `-infinity`. */
export function deletedUntil(projectId: string, name: Expression): Expression {
  return sql`coalesce((select ${UNTIL} ${runningDeletions(projectId)} and j.input ->> 'name' = ${name}), '-infinity')`;
}

/** Returns the names of events being deleted, each with the time of the last event to delete. */
export async function listEventsBeingDeleted(
  database: Database,
  projectId: string,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; until: string }>`
    select j.input ->> 'name' as name, ${UNTIL}::text as until ${runningDeletions(projectId)} group by 1`.execute(
    database,
  );
  return new Map(rows.map(({ name, until }) => [name, until]));
}

/**
 * Returns a condition that excludes events `v` being deleted, or null if there are none. Uses values instead of a lookup in `jobs`, because
 * a list may skip a million events and a lookup for each takes seconds.
 */
export function notBeingDeleted(deletions: ReadonlyMap<string, string>): RawBuilder<SqlBool> | null {
  if (deletions.size === 0) return null;
  const ends = JSON.stringify(Object.fromEntries(deletions));
  return sql<SqlBool>`(v.name <> all(${[...deletions.keys()]}::text[])
    or v.created_at > (${ends}::jsonb ->> v.name)::timestamptz)`;
}

/**
 * Returns a subquery for the events `v` of a project without events being deleted. Like `notBeingDeleted`, but in the statement's own
 * snapshot. Meant for statements that read many events at once, or few.
 */
export function shownEvents(projectId: string): Expression {
  return sql`(
    select v.* from events v left join (
      select j.input ->> 'name' as name, ${UNTIL} as until ${runningDeletions(projectId)} group by 1
    ) gone on gone.name = v.name
    where v.project_id = ${projectId} and (gone.until is null or v.created_at > gone.until)
  ) v`;
}

/** Returns the time of the last event of a name with microseconds, or null. A `Date` would truncate the time to before that event. */
export async function findLastOfName(tx: Tx, projectId: string, name: string): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select max(e.created_at)::text as at from events e
    where e.project_id = ${projectId} and e.name = ${name}`.execute(tx);
  return rows[0]?.at ?? null;
}

/**
 * Deletes up to `limit` events of a name up to a time.
 * @returns the number of deleted events
 */
export async function deleteNamedEvents(
  tx: Tx,
  projectId: string,
  { name, until, limit }: { name: string; until: string; limit: number },
): Promise<number> {
  const result = await sql`
    -- An array, because for a project with few estimated rows a join would compare every pair.
    delete from events where project_id = ${projectId} and id = any (array(
      select e.id from events e
      where e.project_id = ${projectId} and e.name = ${name} and e.created_at <= ${until}::timestamptz
      order by e.created_at limit ${limit}))`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

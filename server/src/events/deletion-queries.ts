// Events that are being deleted: until when those of a name are gone for every reader, though the job has not reached them yet.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

/** The kind of job that deletes the events of a name; its input is `{name, until}`, the instant as PostgreSQL writes it. */
export const DELETE_EVENTS_JOB = "events.delete";

type Expression = RawBuilder<unknown>;

/** Deletions `j` under way; the states are literal, so that the index on due jobs serves. */
const underWay = (projectId: string) =>
  sql`from jobs j where j.project_id = ${projectId} and j.state in ('waiting', 'active') and j.kind = ${DELETE_EVENTS_JOB}`;

const UNTIL = sql`max((j.input ->> 'until')::timestamptz)`;

/** As an expression: until when the events of this name are being deleted; before all time when they are not. */
export function deletedUntil(projectId: string, name: Expression): Expression {
  return sql`coalesce((select ${UNTIL} ${underWay(projectId)} and j.input ->> 'name' = ${name}), '-infinity')`;
}

/** The names of events that are being deleted, each with the instant of the last one that goes. */
export async function listEventsBeingDeleted(
  database: Database,
  projectId: string,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; until: string }>`
    select j.input ->> 'name' as name, ${UNTIL}::text as until ${underWay(projectId)} group by 1`.execute(
    database,
  );
  return new Map(rows.map(({ name, until }) => [name, until]));
}

/**
 * A condition on events `v`: not among those that are being deleted. Null while none are: then nothing is asked. Values and no
 * look at `jobs`: a list may pass over a million of them, and asked for each that takes seconds.
 */
export function notBeingDeleted(deletions: ReadonlyMap<string, string>): RawBuilder<SqlBool> | null {
  if (deletions.size === 0) return null;
  const ends = JSON.stringify(Object.fromEntries(deletions));
  return sql<SqlBool>`(v.name <> all(${[...deletions.keys()]}::text[])
    or v.created_at > (${ends}::jsonb ->> v.name)::timestamptz)`;
}

/**
 * Events `v` of a project, to be read from, without those that are being deleted: the same as `notBeingDeleted`, in the snapshot of the
 * statement. For statements that read many at once, or few.
 */
export function shownEvents(projectId: string): Expression {
  return sql`(
    select v.* from events v left join (
      select j.input ->> 'name' as name, ${UNTIL} as until ${underWay(projectId)} group by 1
    ) gone on gone.name = v.name
    where v.project_id = ${projectId} and (gone.until is null or v.created_at > gone.until)
  ) v`;
}

/** When the last event of a name happened, with microseconds: a `Date` would cut it short of that event. Null without one. */
export async function findLastOfName(tx: Tx, projectId: string, name: string): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select max(e.created_at)::text as at from events e
    where e.project_id = ${projectId} and e.name = ${name}`.execute(tx);
  return rows[0]?.at ?? null;
}

/** Deletes up to `limit` events of a name that happened until an instant. @returns how many */
export async function deleteNamedEvents(
  tx: Tx,
  projectId: string,
  { name, until, limit }: { name: string; until: string; limit: number },
): Promise<number> {
  const result = await sql`
    -- As an array: where PostgreSQL takes a project to have few rows, a join compares each with each.
    delete from events where project_id = ${projectId} and id = any (array(
      select e.id from events e
      where e.project_id = ${projectId} and e.name = ${name} and e.created_at <= ${until}::timestamptz
      order by e.created_at limit ${limit}))`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

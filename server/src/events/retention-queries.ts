// Finds and deletes events past their retention, by whole months.
import { sql, type RawBuilder } from "kysely";
import { isCluster } from "../platform/database/cluster.ts";
import { plannedEachTime, type Database, type Tx } from "../platform/database/database.ts";
import { NO_ID } from "../platform/ids.ts";
import { lockPosition } from "./count-queries.ts";
import { deleteOldNameCounts } from "./name-count-queries.ts";

/** The first id that project `r` keeps, at the start of the month that contains the cutoff day. */
const KEPT_FROM = sql`sent_event_id(${NO_ID},
  date_trunc('month', (now() - r.days * interval '1 day') at time zone 'UTC') at time zone 'UTC')`;

export async function upsertRetention(tx: Tx, projectId: string, days: number): Promise<void> {
  await sql`
    insert into event_retentions (project_id, days) values (${projectId}, ${days})
    on conflict (project_id) do update set days = excluded.days`.execute(tx);
}

export async function deleteRetention(tx: Tx, projectId: string): Promise<void> {
  await tx.deleteFrom("event_retentions").where("projectId", "=", projectId).execute();
}

/** Returns projects with a limited retention by id, starting after `after`. */
export async function listRetentions(database: Database, after: string | null, limit: number) {
  const { rows } = await sql<{ projectId: string }>`
    select r.project_id from event_retentions r where r.project_id > coalesce(${after}::uuid, ${NO_ID})
    order by r.project_id limit ${limit}`.execute(database);
  return rows.map(({ projectId: id }) => id);
}

/**
 * Returns the projects with events in a partition. Returns null if a project still needs the partition, because of a longer retention or
 * uncounted events.
 */
export async function findProjectsOfOldPartition(
  database: Database,
  { name, until }: { name: string; until: string },
): Promise<string[] | null> {
  const partition = sql.table(name);
  if (await isCluster(database)) return findProjectsOfCluster(database, partition, until);
  const rows = await findPresent(database, partition, until);
  return rows.every(({ isOver }) => isOver) ? rows.map(({ projectId: id }) => id) : null;
}

/** Returns the projects with events in a partition, and whether they no longer need them. Skips through the index. */
async function findPresent(
  database: Database,
  partition: RawBuilder<unknown>,
  until: string,
): Promise<Array<{ projectId: string; isOver: boolean }>> {
  const { rows } = await sql<{ projectId: string; isOver: boolean }>`
    ${plannedEachTime} with recursive present as (
      (select e.project_id from ${partition} e order by e.project_id limit 1)
      union all
      select (select e.project_id from ${partition} e where e.project_id > p.project_id order by e.project_id limit 1)
      from present p where p.project_id is not null
    )
    select p.project_id, coalesce(${KEPT_FROM} >= ${until}::uuid
      -- Ordered, so that one index lookup suffices. For an exists with the position, the planner would scan the month.
      and (select e.id from ${partition} e where e.project_id = p.project_id order by e.project_id, e.id desc limit 1) < c.position,
      false) as is_over
    from present p
    left join event_retentions r on r.project_id = p.project_id
    left join count_positions c on c.project_id = p.project_id
    where p.project_id is not null`.execute(database);
  return rows;
}

/**
 * The same on a cluster, which accepts no recursive query over projects. The first statement usually ends early, because one of the first
 * events belongs to a project that needs the partition. The second one reads all events, shortly before they are dropped.
 */
async function findProjectsOfCluster(
  database: Database,
  partition: RawBuilder<unknown>,
  until: string,
): Promise<string[] | null> {
  const { rows: needed } = await sql`
    ${plannedEachTime} select 1 as needed from ${partition} e
    left join event_retentions r on r.project_id = e.project_id
    left join count_positions c on c.project_id = e.project_id
    where not coalesce(${KEPT_FROM} >= ${until}::uuid and e.id < c.position, false)
    limit 1`.execute(database);
  if (needed.length > 0) return null;
  const { rows } = await sql<{ projectId: string }>`
    ${plannedEachTime} select distinct e.project_id from ${partition} e`.execute(database);
  return rows.map(({ projectId: id }) => id);
}

/**
 * Records that older events of these projects are gone. Their counts are kept, except the counts per name. `keptFrom` is the first id of a
 * month.
 */
export async function raiseKeptFrom(tx: Tx, projectIds: readonly string[], keptFrom: string): Promise<void> {
  await sql`
    update count_positions set kept_from = greatest(kept_from, ${keptFrom}::uuid)
    where project_id = any(${projectIds}::uuid[])`.execute(tx);
  await deleteOldNameCounts(tx, projectIds, keptFrom);
}

/** Returns the id from which all events of a project still exist. Older events may exist, too. */
export async function findKeptFrom(database: Database, projectId: string): Promise<string> {
  const row = await database
    .selectFrom("count_positions")
    .select("keptFrom")
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  return row?.keptFrom ?? NO_ID;
}

/**
 * Deletes up to `limit` expired events of a project, after all of them have been counted.
 * @returns the number of deleted events
 */
export async function deleteOldEvents(tx: Tx, projectId: string, limit: number): Promise<number> {
  // Held until the commit, so that other changes of the counts see all of this deletion or nothing.
  const position = await lockPosition(tx, projectId);
  const { rows } = await sql<{ keptFrom: string; isCounted: boolean }>`
    ${plannedEachTime} select k.kept_from, not exists (
      select 1 from events v where v.project_id = ${projectId} and v.id >= ${position} and v.id < k.kept_from) as is_counted
    from (select ${KEPT_FROM} as kept_from from event_retentions r where r.project_id = ${projectId}) k`.execute(
    tx,
  );
  const [old] = rows;
  if (old === undefined || !old.isCounted) return 0;
  const { keptFrom } = old;
  const result = await sql`
    -- An array, because for a project with few estimated rows a join would compare every pair.
    ${plannedEachTime} delete from events where project_id = ${projectId} and id < ${keptFrom} and id = any (array(
      select e.id from events e where e.project_id = ${projectId} and e.id < ${keptFrom} order by e.id limit ${limit}))`.execute(
    tx,
  );
  const count = Number(result.numAffectedRows ?? 0);
  if (count > 0) await raiseKeptFrom(tx, [projectId], keptFrom);
  return count;
}

// Splits statements that lock or change rows of several projects if the database is a cluster, where each may address one project only
// (docs/decisions/0167-one-project-a-statement.md).
import { sql, type RawBuilder } from "kysely";
import { isOutOfTime, transaction, type Database, type Tx } from "./database.ts";
import { isUnavailable } from "../unavailable.ts";
import { ROOT_TABLE } from "./table-places.ts";

/** Shorter than the time limit of locks, so that a transaction that waits for one of these outlasts it. */
const BRIEF_MS = 2_500;

/** By the hub of each database, which its transactions share. */
const known = new WeakMap<object, boolean>();

/** Returns whether the database has the extension that distributes tables. Read once, because it is created before tables are distributed. */
export async function isCluster(database: Database): Promise<boolean> {
  const { hub } = database.effects;
  const read = known.get(hub);
  if (read !== undefined) return read;
  const { rows } = await sql<{ isCluster: boolean }>`
    select exists (select 1 from pg_extension where extname = 'citus') as is_cluster`.execute(database);
  const found = rows[0]?.isCluster === true;
  known.set(hub, found);
  return found;
}

/** Makes tests on one PostgreSQL use the statements of a cluster, which it accepts too. */
export function treatAsCluster(database: Database): void {
  known.set(database.effects.hub, true);
}

/** Returns the project of a statement about it alone on a cluster, otherwise null, because plans differ (docs/decisions/0027). */
export async function onlyProject(database: Database, projectId: string): Promise<string | null> {
  return (await isCluster(database)) ? projectId : null;
}

/** Rows for one statement. `projectId` is their project, or null if the statement may address several. */
export interface StatementRows<Row> {
  projectId: string | null;
  rows: readonly Row[];
}

/**
 * Returns the rows in one group, or on a cluster in one group for each project. Sorts the projects, so that transactions that lock rows of
 * several cannot deadlock.
 */
export async function splitByProject<Row extends { projectId: string }>(
  database: Database,
  rows: readonly Row[],
): Promise<Array<StatementRows<Row>>> {
  if (rows.length === 0) return [];
  if (!(await isCluster(database))) return [{ projectId: null, rows }];
  return [...Map.groupBy(rows, (row) => row.projectId)]
    .map(([projectId, own]) => ({ projectId, rows: own }))
    .toSorted((one, other) => (one.projectId < other.projectId ? -1 : 1));
}

/** Runs a statement for each group of `splitByProject`, one after the other, and returns all their rows. */
export async function queryByProject<Row extends { projectId: string }, Result>(
  database: Database,
  rows: readonly Row[],
  query: (own: readonly Row[], projectId: string | null) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const all: Result[] = [];
  for (const { projectId, rows: own } of await splitByProject(database, rows))
    all.push(...(await query(own, projectId)));
  return all;
}

/** Returns an additional condition for a statement about one project, and none for one about several. */
export const inProject = (column: RawBuilder<unknown>, projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? sql`` : sql`and ${column} = ${projectId}::uuid`;

/** Returns the one project of a statement as a value, because a cluster doesn't follow columns into subqueries. Otherwise the column. */
export const projectOf = (column: RawBuilder<unknown>, projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? column : sql`${projectId}::uuid`;

/**
 * Runs statements about one project in a transaction that fails after a few seconds. A worker that hangs would otherwise keep locks on the
 * coordinator for as long as other statements may take.
 * @throws an error that `isOutOfTime` recognizes
 */
export async function briefly<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(database, async (tx) => {
    await sql`select set_config('statement_timeout', ${String(BRIEF_MS)}, true)`.execute(tx);
    return work(tx);
  });
}

/** Returns the ids of all projects from a table that is on the coordinator too. */
export type ListProjects = (database: Database) => Promise<string[]>;

export interface ProjectSource {
  /** Lets the statements about all projects leave out those of unreachable nodes of a cluster. */
  listProjects?: ListProjects;
}

/** Returns an additional condition for a statement about some projects, and none for one about all. */
export const among = (
  column: RawBuilder<unknown>,
  projectIds: readonly string[] | null,
): RawBuilder<unknown> => (projectIds === null ? sql`` : sql`and ${column} = any(${projectIds}::uuid[])`);

export interface ReachableRows<Row> {
  rows: Row[];
  /** False if the rows of an unreachable node are missing. */
  isComplete: boolean;
}

/**
 * Runs a statement about all projects. If a node of a cluster is away or hangs, runs it again for the projects of each node and leaves out
 * those of the nodes that fail. Without `listProjects`, or on one PostgreSQL, it fails as a whole.
 * @param run gets the ids of the projects, or null for all
 */
export async function fromReachableNodes<Row>(
  database: Database,
  listProjects: ListProjects | undefined,
  run: (on: Database, projectIds: readonly string[] | null) => Promise<Row[]>,
): Promise<ReachableRows<Row>> {
  if (listProjects === undefined || !(await isCluster(database)))
    return { rows: await run(database, null), isComplete: true };
  const all = await whileReachable(database, (tx) => run(tx, null));
  if (all !== null) return { rows: all, isComplete: true };
  const rows: Row[] = [];
  for (const projectIds of await splitByNode(database, await listProjects(database)))
    rows.push(...((await whileReachable(database, (tx) => run(tx, projectIds))) ?? []));
  return { rows, isComplete: false };
}

/** Returns null if a node is away or hangs. */
async function whileReachable<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T | null> {
  try {
    return await briefly(database, work);
  } catch (error) {
    if (isUnavailable(error) || isOutOfTime(error)) return null;
    throw error;
  }
}

/** Groups projects by the node that has their rows, according to the coordinator. */
async function splitByNode(database: Database, projectIds: readonly string[]): Promise<string[][]> {
  const { rows } = await sql<{ ids: string[] }>`
    select array_agg(i.id) as ids from unnest(${projectIds}::uuid[]) as i (id)
    join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column(${ROOT_TABLE.name}, i.id)
    group by p.groupid order by p.groupid`.execute(database);
  return rows.map(({ ids }) => ids);
}

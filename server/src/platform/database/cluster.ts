// Splits statements that lock or change rows of several projects if the database is a cluster, where each may address one project only
// (docs/decisions/0167-one-project-a-statement.md).
import { sql, type RawBuilder } from "kysely";
import type { Database } from "./database.ts";

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

/** Returns an additional condition for a statement about one project, and none for one about several. */
export const inProject = (column: RawBuilder<unknown>, projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? sql`` : sql`and ${column} = ${projectId}::uuid`;

/** Returns the one project of a statement as a value, because a cluster doesn't follow columns into subqueries. Otherwise the column. */
export const projectOf = (column: RawBuilder<unknown>, projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? column : sql`${projectId}::uuid`;

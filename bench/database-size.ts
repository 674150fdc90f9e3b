// Measures the size of tables with their indexes, after a vacuum and a checkpoint.
import { sql } from "kysely";
import { waitUntil } from "../e2e/wait-until.ts";
import type { Database } from "../server/src/platform/database/database.ts";
import { unlimited } from "./outbox.ts";

/** A table's size, with its total rows and the project's rows. */
export interface TableSize {
  bytes: number;
  rows: number;
  rowsOfProject: number;
}

const AUTOVACUUM_TIMEOUT_MS = 60_000;

/** Returns sizes by table. Rows are counted only in tables with a project id. */
export async function measureTables(
  database: Database,
  projectId: string,
): Promise<ReadonlyMap<string, TableSize>> {
  return unlimited(database, async (connection) => {
    // Wait for autovacuum, because its snapshot keeps rows deleted during its run.
    await waitUntil("PostgreSQL's own vacuum", AUTOVACUUM_TIMEOUT_MS, async () => {
      const { rows } = await sql`
        select 1 from pg_stat_activity where backend_type = 'autovacuum worker'`.execute(connection);
      return rows.length === 0;
    });
    await sql`vacuum`.execute(connection);
    await sql`checkpoint`.execute(connection);
    const { rows: tables } = await sql<{ name: string; bytes: number; hasProject: boolean }>`
      select c.relname as name, pg_total_relation_size(c.oid) as bytes, exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped
      ) as has_project
      from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`.execute(connection);
    const sizes = new Map<string, TableSize>();
    for (const { name, bytes, hasProject } of tables) {
      const counted = hasProject
        ? await sql<{ rows: number; rowsOfProject: number }>`
            select count(*) as rows, count(*) filter (where project_id = ${projectId}) as rows_of_project
            from ${sql.table(name)}`.execute(connection)
        : null;
      sizes.set(name, { bytes, ...(counted?.rows[0] ?? { rows: 0, rowsOfProject: 0 }) });
    }
    return sizes;
  });
}

/**
 * Returns a table's growth attributed to a project, by its share of the new rows, because other projects also write. Returns the total
 * growth if there are no new rows.
 */
export function growthOf(
  name: string,
  before: ReadonlyMap<string, TableSize>,
  after: ReadonlyMap<string, TableSize>,
): number {
  const [old, now] = [before.get(name), after.get(name)];
  if (now === undefined) return 0;
  const rows = now.rows - (old?.rows ?? 0);
  const share = rows > 0 ? (now.rowsOfProject - (old?.rowsOfProject ?? 0)) / rows : 1;
  return (now.bytes - (old?.bytes ?? 0)) * share;
}

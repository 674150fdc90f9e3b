// Finds and deletes all rows of a project, table by table, because every key contains the project (ARCHITECTURE.md). Tables and references
// are read from the catalog, so new tables need no change here.
import { sql } from "kysely";
import type { Database, Tx } from "./database.ts";

export interface TenantTable {
  name: string;
  /** The columns of its primary key. */
  key: string[];
}

/** Returns the tables with a `project_id`, each before the tables that it references. */
export async function listTenantTables(database: Database): Promise<TenantTable[]> {
  const { rows } = await sql<{ name: string; key: string[]; refersTo: string[] }>`
    select c.relname as name,
      (select array_agg(a.attname::text order by array_position(i.indkey::int2[], a.attnum))
       from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
       where i.indrelid = c.oid and i.indisprimary) as key,
      array(
        select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
      ) as refers_to
    from pg_class c
    join pg_attribute p on p.attrelid = c.oid and p.attname = 'project_id' and not p.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`.execute(database);
  const unplaced = new Map(rows.map((row) => [row.name, row]));
  const ordered: TenantTable[] = [];
  while (unplaced.size > 0) {
    const next = [...unplaced.values()].find(
      ({ name }) => ![...unplaced.values()].some((other) => other.refersTo.includes(name)),
    );
    if (next === undefined) throw new Error("Tenant tables have circular references.");
    unplaced.delete(next.name);
    ordered.push({ name: next.name, key: next.key });
  }
  return ordered;
}

/** Deletes up to `limit` rows of a project in key order and returns how many were deleted. */
export async function deleteTenantRows(
  tx: Tx,
  { name, key }: TenantTable,
  projectId: string,
  limit: number,
): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const lastFirst = sql.join(key.map((column) => sql`${sql.ref(column)} desc`));
  // Uses a range up to one key. A join with the keys is planned by old statistics and may scan all keys for each row.
  const { numAffectedRows } = await sql`
    delete from ${sql.table(name)}
    where project_id = ${projectId} and (${columns}) <= (
      select ${columns} from (
        select ${columns} from ${sql.table(name)} where project_id = ${projectId} order by ${columns} limit ${limit}
      ) batch order by ${lastFirst} limit 1
    )`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

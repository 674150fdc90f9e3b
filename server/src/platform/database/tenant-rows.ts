// All that a tenant has, table by table: the project is in every key (ARCHITECTURE.md), so its rows are found the same way in each. The
// catalog knows the tables and what refers to what; a table that is added later is found without a word here.
import { sql } from "kysely";
import type { Database, Tx } from "./database.ts";

export interface TenantTable {
  name: string;
  /** The columns of its primary key. */
  key: string[];
}

/** The tables with a `project_id`, each before those it refers to. */
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
    if (next === undefined) throw new Error("Tables of tenants refer to each other in a circle.");
    unplaced.delete(next.name);
    ordered.push({ name: next.name, key: next.key });
  }
  return ordered;
}

/** Deletes up to so many rows of a project, those with the first keys; returns how many there were. */
export async function deleteTenantRows(
  tx: Tx,
  { name, key }: TenantTable,
  projectId: string,
  limit: number,
): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const lastFirst = sql.join(key.map((column) => sql`${sql.ref(column)} desc`));
  // As a range up to one key: as a join with the keys it is planned by what was there when the table was analysed, and may look through
  // all of them for each row.
  const { numAffectedRows } = await sql`
    delete from ${sql.table(name)}
    where project_id = ${projectId} and (${columns}) <= (
      select ${columns} from (
        select ${columns} from ${sql.table(name)} where project_id = ${projectId} order by ${columns} limit ${limit}
      ) batch order by ${lastFirst} limit 1
    )`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

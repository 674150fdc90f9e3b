// Statements that check a Citus cluster and distribute the tables over its workers.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

/** Returns the version of Citus in this database, or null, and whether the server could provide it. */
export async function readExtension(
  database: Database,
): Promise<{ version: string | null; isInstalled: boolean }> {
  const { rows } = await sql<{ version: string | null; isInstalled: boolean }>`
    select (select extversion from pg_extension where extname = 'citus') as version,
      exists (select 1 from pg_available_extensions where name = 'citus') as is_installed`.execute(database);
  return rows[0] ?? { version: null, isInstalled: false };
}

/** Returns whether this node is the coordinator, and whether the other nodes have its address. */
export async function readOwnRole(
  database: Database,
): Promise<{ isCoordinator: boolean; isListed: boolean }> {
  const { rows } = await sql<{ isCoordinator: boolean; isListed: boolean }>`
    select coalesce((select groupid = 0 from pg_dist_local_group limit 1), true) as is_coordinator,
      exists (select 1 from pg_dist_node where groupid = 0) as is_listed`.execute(database);
  return rows[0] ?? { isCoordinator: true, isListed: false };
}

export interface Worker {
  address: string;
  responds: boolean;
}

/** Lists the workers that hold rows, and connects to each. */
export async function listWorkers(database: Database): Promise<Worker[]> {
  const { rows } = await sql<Worker>`
    select nodename || ':' || nodeport as address,
      isactive and coalesce(citus_check_connection_to_node(nodename, nodeport), false) as responds
    from pg_dist_node where noderole = 'primary' and groupid <> 0 and shouldhaveshards
    order by 1 limit 1000`.execute(database);
  return rows;
}

/** Lists the extensions of this database that workers cannot provide, as `name at address`. */
export async function listMissingExtensions(database: Database): Promise<string[]> {
  const { rows } = await sql<{ missing: string }>`
    select e.extname || ' at ' || w.nodename || ':' || w.nodeport as missing
    from pg_extension e
    cross join run_command_on_workers('select array_agg(name::text) from pg_available_extensions') w
    where not coalesce(e.extname::text = any(w.result::text[]), false)
    order by 1 limit 1000`.execute(database);
  return rows.map((row) => row.missing);
}

export interface TableState {
  name: string;
  hasProject: boolean;
  isDistributed: boolean;
  isEverywhere: boolean;
  bytes: number;
}

/** Lists the tables with the place that they have now and the space that they take on this node. */
export async function listTables(database: Database): Promise<TableState[]> {
  const { rows } = await sql<TableState>`
    select c.relname::text as name,
      exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped
      ) as has_project,
      coalesce(d.partmethod = 'h', false) as is_distributed,
      coalesce(d.partmethod = 'n' and d.repmodel = 't', false) as is_everywhere,
      (select sum(pg_total_relation_size(part.oid)) from pg_class part
        where part.oid = c.oid or part.oid in (select inhrelid from pg_inherits where inhparent = c.oid))::float8 as bytes
    from pg_class c left join pg_dist_partition d on d.logicalrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select 1 from pg_depend e where e.objid = c.oid and e.deptype = 'e')
    order by 1`.execute(database);
  return rows;
}

/**
 * Prepares the database for rows on several nodes: changes of rows are commutative, because otherwise two statements that change rows of
 * many projects wait for each other, and the functions of the schema exist on every node.
 */
export async function prepareCluster(tx: Tx): Promise<void> {
  await sql`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`.execute(tx);
  const { rows } = await sql<{ setting: string }>`
    select format('alter database %I set citus.all_modifications_commutative = on', current_database()) as setting`.execute(
    tx,
  );
  for (const { setting } of rows) await sql.raw(setting).execute(tx);
  await sql`
    select create_distributed_function(p.oid::regprocedure) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
      and not exists (select 1 from pg_depend e where e.objid = p.oid and e.deptype = 'e')
      and not exists (select 1 from pg_dist_object o where o.objid = p.oid)`.execute(tx);
}

export interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/** Removes the foreign keys from and to these tables, and returns them. */
export async function dropForeignKeys(tx: Tx, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await sql<ForeignKey>`
    select r.relname::text as table, f.conname::text as name, pg_get_constraintdef(f.oid) as definition
    from pg_constraint f join pg_class r on r.oid = f.conrelid join pg_class t on t.oid = f.confrelid
    where f.contype = 'f' and f.conparentid = 0 and r.relnamespace = 'public'::regnamespace
      and (r.relname = any(${tables}::text[]) or t.relname = any(${tables}::text[]))
    order by 1, 2`.execute(tx);
  for (const { table, name } of rows)
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}`.execute(tx);
  return rows;
}

export async function addForeignKey(tx: Tx, { table, name, definition }: ForeignKey): Promise<void> {
  await sql`alter table ${sql.table(table)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
    tx,
  );
}

/** Distributes a table by a column. All tables have the rows of a project on the same node. */
export async function distributeTable(
  tx: Tx,
  { name, column, beside }: { name: string; column: string; beside: string },
): Promise<void> {
  await sql`
    select create_distributed_table(${name}::regclass, ${column}, colocate_with => ${beside})`.execute(tx);
}

/** Copies a table to every node. */
export async function copyTableEverywhere(tx: Tx, name: string): Promise<void> {
  await sql`select create_reference_table(${name}::regclass)`.execute(tx);
}

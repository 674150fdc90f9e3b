// Statements that check a Citus cluster, distribute the tables over its workers, and move projects between them.
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

/** How rows are moved: `block_writes` lets writes to them wait, `auto` copies them by logical replication. */
export type TransferMode = "auto" | "block_writes";

/** The part of the tables that has the rows of a project. */
export interface ShardOfProject {
  id: string;
  /** `host:port` */
  node: string;
  /** All projects whose rows are in it. */
  projects: number;
  /** Whether the project exists. */
  isProject: boolean;
}

/** Returns the place of a project, or null if the tables are not distributed. */
export async function findShard(database: Database, projectId: string): Promise<ShardOfProject | null> {
  const { rows } = await sql<ShardOfProject>`
    with ids as materialized (select id from projects),
    shard as materialized (select get_shard_id_for_distribution_column('projects', ${projectId}::uuid) as id)
    select s.shardid::text as id, s.nodename || ':' || s.nodeport as node,
      (select count(*) from ids where get_shard_id_for_distribution_column('projects', ids.id) = s.shardid)::float8 as projects,
      exists (select 1 from ids where ids.id = ${projectId}) as is_project
    from citus_shards s join shard on shard.id = s.shardid
    where s.table_name = 'projects'::regclass`.execute(database);
  return rows[0] ?? null;
}

/** Splits the rows of a project from those of other projects, on the same node. */
export async function isolateProject(
  database: Database,
  projectId: string,
  mode: TransferMode,
): Promise<void> {
  await sql`
    select isolate_tenant_to_new_shard('projects', ${projectId}::uuid, 'CASCADE', shard_transfer_mode => ${mode}::citus.shard_transfer_mode)`.execute(
    database,
  );
}

/** Moves a part of all tables to another node. Its rows can be read and, with `auto`, changed meanwhile. */
export async function moveShard(
  database: Database,
  { id, node }: Pick<ShardOfProject, "id" | "node">,
  target: string,
  mode: TransferMode,
): Promise<void> {
  const [from, to] = [addressOf(node), addressOf(target)];
  await sql`
    select citus_move_shard_placement(${id}::bigint, ${from.host}, ${from.port}, ${to.host}, ${to.port}, ${mode}::citus.shard_transfer_mode)`.execute(
    database,
  );
}

function addressOf(node: string): { host: string; port: number } {
  const at = node.lastIndexOf(":");
  return { host: node.slice(0, at), port: Number(node.slice(at + 1)) };
}

/** Runs statements that may take hours, on a connection of their own. */
export function withoutTimeLimit<Result>(
  database: Database,
  work: (connection: Database) => Promise<Result>,
): Promise<Result> {
  return database.connection().execute(async (connection) => {
    await sql`select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`.execute(
      connection,
    );
    return work(connection as Database);
  });
}

export interface MoveProgress {
  tables: number;
  bytes: number;
  movedBytes: number;
}

/** Returns what is being moved now. */
export async function readMoveProgress(database: Database): Promise<MoveProgress> {
  const { rows } = await sql<MoveProgress>`
    select count(*)::float8 as tables, coalesce(sum(source_shard_size), 0)::float8 as bytes,
      coalesce(sum(least(target_shard_size, source_shard_size)), 0)::float8 as moved_bytes
    from get_rebalance_progress()`.execute(database);
  return rows[0] ?? { tables: 0, bytes: 0, movedBytes: 0 };
}

/** Starts to spread the rows evenly. Returns the job, or null if they are spread evenly already. */
export async function startRebalance(database: Database, mode: TransferMode): Promise<string | null> {
  const { rows } = await sql<{ job: string | null }>`
    select citus_rebalance_start(shard_transfer_mode => ${mode}::citus.shard_transfer_mode)::text as job`.execute(
    database,
  );
  return rows[0]?.job ?? null;
}

export interface RebalanceState {
  job: string;
  /** `scheduled`, `running`, `finished`, `cancelling`, `cancelled`, `failing` or `failed`. */
  state: string;
  tasks: number;
  done: number;
  /** The error of a failed task. */
  error: string | null;
}

/** Returns the state of the last rebalance, or null if there was none. */
export async function readRebalance(database: Database): Promise<RebalanceState | null> {
  const { rows } = await sql<RebalanceState>`
    select j.job_id::text as job, j.state::text as state,
      (select count(*) from pg_dist_background_task t where t.job_id = j.job_id)::float8 as tasks,
      (select count(*) from pg_dist_background_task t where t.job_id = j.job_id and t.status = 'done')::float8 as done,
      (select min(t.message) from pg_dist_background_task t where t.job_id = j.job_id and t.status = 'error') as error
    from pg_dist_background_job j where j.job_type = 'rebalance' order by j.job_id desc limit 1`.execute(
    database,
  );
  return rows[0] ?? null;
}

/** Counts the parts of the tables by node, those of a table once. */
export async function countShards(database: Database): Promise<Array<{ node: string; shards: number }>> {
  const { rows } = await sql<{ node: string; shards: number }>`
    select nodename || ':' || nodeport as node, count(*)::float8 as shards
    from citus_shards where table_name = 'projects'::regclass group by 1 order by 1 limit 1000`.execute(
    database,
  );
  return rows;
}

// Manages tables partitioned by the month of their ids (UUIDv7). Partitions are created months ahead and dropped as a whole.
// docs/decisions/0082-events-by-month.md.
import { sql } from "kysely";
import { startLoop, type Loop } from "../background/background.ts";
import { now } from "../clock.ts";
import { databaseErrorCode, limitStatements, transaction, type Database, type Tx } from "./database.ts";
import { firstIdAt, idTimeMs } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

/** How many partitions exist after the current month's, so that writes have a partition even if none is created for weeks. */
const MONTHS_AHEAD = 3;
/**
 * Writers queue behind a pending schema change, so the change gives up early and retries. Statements of callers take a few milliseconds.
 */
const LOCK_WAIT_MS = 50;
/** The wait after the table was busy for longer than that, rare enough that the short lock waits go unnoticed. */
export const BUSY_RETRY_MS = 10_000;
const EVERY_MS = 10 * 60_000;
const ANALYZE_TIMEOUT_MS = 10 * 60_000;
const LOCK_NOT_AVAILABLE = "55P03";
/** Rows of the new partition were written into the default partition since the check. */
const CHECK_VIOLATION = "23514";

export interface Partition {
  name: string;
  /** The first id after this partition. Null for the default partition. */
  until: string | null;
}

/** Lists the partitions of a table in the order of their ids. The default partition is last. */
export async function listPartitions(database: Database, table: string): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select c.relname as name,
      substring(pg_get_expr(c.relpartbound, c.oid) from 'TO [(]''([0-9a-f-]{36})''[)]') as until
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = to_regclass(${`public.${table}`})
    order by until nulls last`.execute(database);
  return rows;
}

/**
 * Creates the missing partitions of this month and the next ones. A month with existing rows stays in the default partition. Safe in
 * several processes at once.
 * @returns the names of the created partitions, or null if the table was busy
 */
export async function makePartitions(
  database: Database,
  table: string,
  at: Date = now(),
): Promise<string[] | null> {
  const partitions = await listPartitions(database, table);
  // The first partition may contain many months, while all others are named after their month.
  const firstUntil = partitions[0]?.until ?? firstIdAt(0);
  const made: string[] = [];
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead++) {
    const fromMs = monthAfter(at.getTime(), ahead);
    if (fromMs < idTimeMs(firstUntil)) continue;
    const outcome = await unlessBusy(() =>
      transaction(database, (tx) =>
        makePartition(tx, { table, fromMs, rest: partitions.at(-1)?.name ?? "" }),
      ),
    );
    if (outcome === "busy") return null;
    if (outcome !== "left") made.push(outcome.made);
  }
  return made;
}

/** Returns the start of the month that is this many months after a time, in UTC. */
function monthAfter(ms: number, months: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

async function makePartition(
  tx: Tx,
  { table, fromMs, rest }: { table: string; fromMs: number; rest: string },
): Promise<{ made: string } | "left"> {
  const name = `${table}_${new Date(fromMs).toISOString().slice(0, 7).replace("-", "_")}`;
  const [from, until] = [firstIdAt(fromMs), firstIdAt(monthAfter(fromMs, 1))];
  const { rows } = await sql<{ isFree: boolean }>`
    select pg_try_advisory_xact_lock(hashtext(${`months of ${table}`})) and to_regclass(${`public.${name}`}) is null
      and not exists (select 1 from ${sql.table(rest)} r where r.id >= ${from} and r.id < ${until}) as is_free`.execute(
    tx,
  );
  if (rows[0]?.isFree !== true) return "left";
  await limitWaits(tx);
  await sql`create table ${sql.table(name)} (like ${sql.table(table)} including defaults including storage including compression)`.execute(
    tx,
  );
  // The same statistics target as for every table with a project_id (0001_initial.sql).
  await sql`alter table ${sql.table(name)} alter column project_id set (n_distinct = 10)`.execute(tx);
  await sql`alter table ${sql.table(table)} attach partition ${sql.table(name)}
    for values from (${sql.lit(from)}) to (${sql.lit(until)})`.execute(tx);
  return { made: name };
}

/**
 * Drops a partition with all its rows, quickly regardless of their number, while the table is briefly locked. Must be last in its
 * transaction. @throws an error that `unlessBusy` recognizes if the table was busy for too long
 */
export async function dropPartition(tx: Tx, name: string): Promise<void> {
  await limitWaits(tx);
  await sql`drop table ${sql.table(name)}`.execute(tx);
}

/** Returns the result of the work, or "busy" if it did not lock the table in time or rows were added in between. */
export async function unlessBusy<T>(work: () => Promise<T>): Promise<T | "busy"> {
  try {
    return await work();
  } catch (error) {
    const code = databaseErrorCode(error);
    if (code === LOCK_NOT_AVAILABLE || code === CHECK_VIOLATION) return "busy";
    throw error;
  }
}

async function limitWaits(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(LOCK_WAIT_MS)}, true)`.execute(tx);
}

/**
 * Analyzes the whole table if the number of rows in its partitions has changed. PostgreSQL itself only analyzes single partitions and would
 * plan joins with the whole table without statistics.
 */
export async function analyzePartitioned(database: Database, table: string): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean; only: boolean }>`
    select p.reltuples < 0 or abs(sum(greatest(c.reltuples, 0)) - p.reltuples) > greatest(p.reltuples, 1000) * 0.2 as is_due,
      current_setting('server_version_num')::int >= 180000 as only
    from pg_class p join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
    where p.oid = to_regclass(${`public.${table}`}) group by p.oid, p.reltuples`.execute(database);
  const [look] = rows;
  if (look?.isDue !== true) return false;
  await transaction(database, async (tx) => {
    await limitStatements(tx, ANALYZE_TIMEOUT_MS);
    await sql`analyze ${sql.raw(look.only ? "only " : "")}${sql.table(table)}`.execute(tx);
  });
  return true;
}

/** Starts the loop that creates partitions ahead of time and keeps the table's statistics current. */
export function startKeepingPartitions({
  database,
  table,
  log,
  metrics,
}: {
  database: Database;
  table: string;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: `months of ${table}`,
    async runOnce() {
      const made = await makePartitions(database, table);
      if (made === null) return BUSY_RETRY_MS;
      await analyzePartitioned(database, table);
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}

// Tables with a partition for each month of their ids (UUIDv7): partitions are made months ahead, and one that nobody needs goes as a
// whole. docs/decisions/0082-events-by-month.md.
import { sql } from "kysely";
import { startLoop, type Loop } from "../background/background.ts";
import { now } from "../clock.ts";
import { databaseErrorCode, limitStatements, transaction, type Database, type Tx } from "./database.ts";
import { firstIdAt, idTimeMs } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

/** Partitions there are beside that of this month: what is written has a partition though nobody made one for weeks. */
const MONTHS_AHEAD = 3;
/**
 * Whoever writes waits behind the one who wants to change a table, so that one gives up early and comes again: statements on the
 * way of a caller take a few milliseconds.
 */
const LOCK_WAIT_MS = 50;
/** Until the next try, after somebody was at it for longer than that: seldom enough for nobody to feel the waiting for the lock. */
export const BUSY_RETRY_MS = 10_000;
const EVERY_MS = 10 * 60_000;
const ANALYZE_TIMEOUT_MS = 10 * 60_000;
const LOCK_NOT_AVAILABLE = "55P03";
/** A row for a partition was written into the one for all others since somebody looked. */
const CHECK_VIOLATION = "23514";

export interface Partition {
  name: string;
  /** The first id behind it; null: it takes what no other does. */
  until: string | null;
}

/** The partitions of a table in the order of their ids; the one for all others comes last. */
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
 * Makes the partitions of this month and the next ones that are missing. A month of which there are rows already stays in the partition
 * for all others. Safe in several processes at once.
 *
 * @returns the names of those that were made; null: somebody used the table, try again
 */
export async function makePartitions(
  database: Database,
  table: string,
  at: Date = now(),
): Promise<string[] | null> {
  const partitions = await listPartitions(database, table);
  // The first one may hold many months; all others have the name of theirs.
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

/** The beginning of the month of an instant, or of one so many months later, in UTC. */
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
  // What every table that names a project is told: 0048.
  await sql`alter table ${sql.table(name)} alter column project_id set (n_distinct = 10)`.execute(tx);
  await sql`alter table ${sql.table(table)} attach partition ${sql.table(name)}
    for values from (${sql.lit(from)}) to (${sql.lit(until)})`.execute(tx);
  return { made: name };
}

/**
 * Deletes a partition with all its rows, in a moment whatever their number; nobody reads or writes the table in that moment.
 * Last in its transaction. @throws an error that `unlessBusy` knows, when somebody used the table for longer than is waited
 */
export async function dropPartition(tx: Tx, name: string): Promise<void> {
  await limitWaits(tx);
  await sql`drop table ${sql.table(name)}`.execute(tx);
}

/** What the work resolves to, or that it did not get the table in time, or that rows came in between. */
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
 * Counts what is in the whole table, where its partitions hold another number of rows than the last time: PostgreSQL by itself looks at
 * each partition alone, and plans joins with the whole without knowing anything of it.
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

/** Keeps the partitions of a table ahead of the clock, and PostgreSQL informed about the whole, for as long as it runs. */
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

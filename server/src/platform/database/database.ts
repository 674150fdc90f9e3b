// The database: one pool, typed statements, transactions that are tried again when PostgreSQL asks for it.
// Row types are generated from the migrated database into rows.ts.
import { Pool, types as pgTypes, type CustomTypesConfig, type PoolClient, type PoolConfig } from "pg";
import { Kysely, sql, type Transaction } from "kysely";
import { CamelCaseClient, CamelCaseDialect } from "./column-names.ts";
import { createDatabaseWatch } from "./watch.ts";
import { noteFullDisk } from "../disk.ts";
import type { Log } from "../log.ts";
import { createEffects, recordEffects, type Effects, type RecordedEffects } from "../notify.ts";
import type { Rows } from "./rows.ts";
import { Refusal } from "../refusal.ts";
import { isUnavailable } from "../unavailable.ts";

/** A transaction, or the database itself where a single statement is enough. */
export type Database = Kysely<Rows> & { readonly effects: Effects };
/** What a verb that changes something demands: the transaction in which its consequences commit too. */
export type Tx = Transaction<Rows> & { readonly effects: RecordedEffects };

export interface DatabaseOptions {
  connection: PoolConfig;
  maxConnections: number;
  log: Log;
}

const CONNECT_TIMEOUT_MS = 4_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/**
 * A process that stands still amid a transaction (stopped, swapped out, its machine paused) keeps its locks for so long; who
 * wants them is told to come again after the time below. docs/decisions/0033.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** Jobs and migrations wait longer: see `allowLongWork`. */
const LOCK_TIMEOUT_MS = 3_000;
/** PostgreSQL 17 and newer. Also ends a transaction whose process does not take what it asked for. */
const TRANSACTION_TIMEOUT_MS = 60_000;
/** One line tells of all connections that are lost within so long. */
const LOSSES_TOLD_AFTER_MS = 1_000;
/** The first so many statements of a process are prepared by name; later ones (filters have endless forms) are not. */
const MAX_PREPARED_STATEMENTS = 300;
const MAX_TRANSACTION_ATTEMPTS = 4;

const PLANNED_EACH_TIME = "/* planned each time */";
/**
 * Put it at the start of a statement whose best plan depends on its values (parts of a text, filters, the size of a
 * project): it is planned for them each time, which takes less than a millisecond, and not once for all.
 */
export const plannedEachTime = sql.raw(PLANNED_EACH_TIME);

const PLANNED_OFTEN = "/* planned often */";
/**
 * Put it at the start of a statement that runs often on tables that grow within seconds: what was planned for it while they
 * were empty is of use for so long only. Planning it each time would cost more than running it.
 */
export const plannedOften = sql.raw(PLANNED_OFTEN);
/** How long a connection that runs such statements keeps its plans: docs/decisions/0027. */
const PLAN_LIFE_MS = 5_000;

const INT8 = 20;
export const DISK_FULL = "53100";
const RETRIED_CODES = new Set(["40001", "40P01"]);
/**
 * What another transaction did between the look of a statement and its writing, and a second look sees: a contact was deleted, an execution of the
 * same contact became active.
 */
const OUTRUN_CONSTRAINTS = ["_project_id_contact_id_fkey", "workflow_executions_active"] as const;
/** Somebody else held what was asked for longer than anybody may be kept waiting. */
const QUERY_CANCELED = "57014";
const LOCK_NOT_AVAILABLE = "55P03";
/** Counts are far below 2^53: they come as numbers. */
const types: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8
      ? Number
      : pgTypes.getTypeParser(oid, format as "text")) as CustomTypesConfig["getTypeParser"],
};

export function createPool(options: DatabaseOptions): Pool {
  const pool = new Pool({
    ...options.connection,
    Client: CamelCaseClient,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    onConnect: (client) => client.query(SET_TRANSACTION_TIMEOUT),
    types,
    application_name: "postloft",
  });
  // Without listeners a restart of PostgreSQL would end this process (node-postgres#2635).
  const note = createLossNotes(options.log);
  pool.on("error", (error, client) => note(client, error));
  pool.on("connect", (client) => client.on("error", (error) => note(client, error)));
  return pool;
}

/** Where the server knows the setting: older ones would refuse the connection. */
const SET_TRANSACTION_TIMEOUT = {
  text: "select set_config('transaction_timeout', $1, false) where current_setting('server_version_num')::int >= 170000",
  values: [String(TRANSACTION_TIMEOUT_MS)],
  // A connection on which nothing comes back must not hold up whoever waits for one.
  query_timeout: CONNECT_TIMEOUT_MS,
};

/** All connections are lost together when PostgreSQL restarts: one short line says so. */
function createLossNotes(log: Log): (client: PoolClient, error: Error) => void {
  const lost = new Set<PoolClient>();
  return (client, error) => {
    if (lost.size === 0)
      setTimeout(() => {
        log.warn(
          { connections: lost.size, code: databaseErrorCode(error), reason: error.message },
          "connections to the database were lost; new ones are made",
        );
        lost.clear();
      }, LOSSES_TOLD_AFTER_MS).unref();
    lost.add(client);
  };
}

export function createDatabase(pool: Pool): Database {
  const watch = createDatabaseWatch(pool);
  const names = new Map<string, string>();
  /** When the plans of a connection began to be made, ms of `performance.now`. */
  const planningSince = new WeakMap<PoolClient, number>();
  async function forgetOldPlans(client: PoolClient): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - (planningSince.get(client) ?? 0) < PLAN_LIFE_MS) return;
    planningSince.set(client, nowMs);
    await client.query("discard plans");
  }
  function nameOf(text: string): string | undefined {
    if (isTransactionControl(text) || isMarked(text, PLANNED_EACH_TIME)) return undefined;
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_PREPARED_STATEMENTS) return known;
    const name = `s${names.size}`;
    names.set(text, name);
    return name;
  }
  const database = new Kysely<Rows>({
    dialect: new CamelCaseDialect({
      pool: {
        async connect() {
          const client = await watch.during(() => pool.connect());
          watch.follow(client);
          return {
            query: async (text: string, values: unknown[]) => {
              const name = nameOf(text);
              return watch
                .during(async () => {
                  if (isMarked(text, PLANNED_OFTEN)) await forgetOldPlans(client);
                  return client.query(name === undefined ? { text, values } : { name, text, values });
                })
                .catch(throwNoted);
            },
            release: () => client.release(),
          } as unknown as PoolClient;
        },
        end: () => pool.end(),
      } as unknown as Pool,
    }),
  });
  return Object.assign(database, { effects: createEffects() });
}

function throwNoted(error: unknown): never {
  if (databaseErrorCode(error) === DISK_FULL) noteFullDisk();
  throw error;
}

function isMarked(text: string, mark: string): boolean {
  return text.trimStart().startsWith(mark);
}

function isTransactionControl(text: string): boolean {
  return text.length < 40 && /^(begin|commit|rollback|set|savepoint|release)/i.test(text);
}

/**
 * Runs `work` in one transaction; after a deadlock, a serialization failure or a change of another that came in between it runs again from the
 * start, so it must have no effect outside the database but those that it records by `notify` and `afterCommit` (notify.ts).
 */
export async function transaction<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tryAgain(async () => {
    const effects = recordEffects(database.effects.hub);
    const result = await database.transaction().execute((tx) => work(Object.assign(tx, { effects })));
    effects.release();
    return result;
  });
}

/** The same for work that is one statement, and so a transaction by itself. */
export async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isOutrun =
        RETRIED_CODES.has(databaseErrorCode(error) ?? "") ||
        violatedConstraint(error, OUTRUN_CONSTRAINTS) !== null;
      if (!isOutrun || attempt >= MAX_TRANSACTION_ATTEMPTS) throw error;
    }
  }
}

/** Gives the statements of this transaction another time limit, ms: some go through a million rows. Nothing else bounds it then. */
export async function limitStatements(tx: Tx, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(tx);
  await allowLongWork(tx);
}

/**
 * For work in the background, of which nobody waits for the answer: the transaction may last, and wait for others as long as
 * one of its statements may take.
 */
export async function allowLongWork(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '0', true),
    case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', '0', true) end`.execute(
    tx,
  );
}

/**
 * Runs `work` as a part of the transaction that can fail alone: then what it did is undone, and the transaction may go on.
 * @throws what `work` threw
 */
export async function subtransaction<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const withdraw = tx.effects.mark();
  await sql`savepoint part`.execute(tx);
  try {
    const result = await work();
    await sql`release savepoint part`.execute(tx);
    return result;
  } catch (error) {
    withdraw();
    await sql`rollback to savepoint part`.execute(tx);
    await sql`release savepoint part`.execute(tx);
    throw error;
  }
}

/** The SQLSTATE or system code of an error from the database, if it has one. */
export function databaseErrorCode(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const code: unknown = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : null;
}

/**
 * Which of these constraints refused a row, if one did. Its name stands in a field of the error, or in its text alone where the table is
 * sharded, with the number of the shard behind it.
 */
export function violatedConstraint<Name extends string>(error: unknown, names: readonly Name[]): Name | null {
  if (!(databaseErrorCode(error) ?? "").startsWith("23")) return null;
  const { constraint, message } = error as { constraint?: unknown; message?: unknown };
  const told = [constraint, message].filter((text) => typeof text === "string");
  return names.find((name) => told.some((text) => text.includes(name))) ?? null;
}

/** Turns an error that says "the database is away" into the refusal a caller may retry; leaves others as they are. */
export function asUnavailable(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new Refusal("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
}

/** Whether a statement took longer than any may. */
export function isOutOfTime(error: unknown): boolean {
  return databaseErrorCode(error) === QUERY_CANCELED;
}

/** Whether a transaction that failed so surely changed nothing; a connection lost at the commit leaves it open. */
export function surelyRolledBack(error: unknown): boolean {
  if (databaseErrorCode(error) === LOCK_NOT_AVAILABLE) return true;
  return !(asUnavailable(error) instanceof Refusal) || error instanceof Refusal;
}

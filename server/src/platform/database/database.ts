// Provides the connection pool, typed statements and transactions that retry when PostgreSQL asks for it. Row types are generated from the
// migrated database into rows.ts.
import { Pool, types as pgTypes, type CustomTypesConfig, type PoolClient, type PoolConfig } from "pg";
import { Kysely, sql, type Transaction } from "kysely";
import { CamelCaseClient, CamelCaseDialect } from "./column-names.ts";
import { createDatabaseWatch } from "./watch.ts";
import { recordFullDisk } from "../disk.ts";
import type { Log } from "../log.ts";
import { createEffects, recordEffects, type Effects, type RecordedEffects } from "../notify.ts";
import type { Rows } from "./rows.ts";
import { AppError } from "../app-error.ts";
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

/** Read for each pool, so that tests can wait longer. */
export const CONNECT_TIMEOUT = { ms: 4_000 };
const STATEMENT_TIMEOUT_MS = 30_000;
/**
 * How long a process that hangs within a transaction (stopped, swapped out, machine paused) keeps its locks. Other callers are asked to
 * retry after the lock timeout below. docs/decisions/0033.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** Read for each pool, so that tests can wait longer. Jobs and migrations wait longer, see `allowLongWork`. */
export const LOCK_TIMEOUT = { ms: 3_000 };
/** Needs PostgreSQL 17 or newer. Also ends a transaction when its process does not read the results. */
const TRANSACTION_TIMEOUT_MS = 60_000;
/** Connections lost within this time are logged as one line. */
const LOSSES_NOTIFIED_AFTER_MS = 1_000;
/** How many distinct statements a process prepares by name. Later statements (filters have endless forms) are not prepared. */
const MAX_PREPARED_STATEMENTS = 300;
const MAX_TRANSACTION_ATTEMPTS = 4;

const PLANNED_EACH_TIME = "/* planned each time */";
/**
 * Marks a statement for which the best plan depends on its values (a search text, filters, the size of a project). It is planned for each
 * execution, which takes less than a millisecond. Goes at the start of the statement.
 */
export const plannedEachTime = sql.raw(PLANNED_EACH_TIME);

const PLANNED_OFTEN = "/* planned often */";
/**
 * Marks a statement that runs often on tables that grow within seconds, where a plan made for empty tables soon becomes bad. Planning every
 * execution would cost more than running it. Goes at the start of the statement.
 */
export const plannedOften = sql.raw(PLANNED_OFTEN);
/** How long a connection keeps the plans of such statements. See docs/decisions/0027. */
const PLAN_LIFE_MS = 5_000;

const INT8 = 20;
export const DISK_FULL = "53100";
const RETRIED_CODES = new Set(["40001", "40P01"]);
/**
 * Constraints that fail only if another transaction commits between the read and the write of a statement. A retry sees that change, for
 * example that a contact was deleted or that an execution of the same contact became active.
 */
const CONFLICT_CONSTRAINTS = ["_project_id_contact_id_fkey", "workflow_executions_active"] as const;
/** SQLSTATE codes for a lock that was held longer than a caller should wait. */
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
    connectionTimeoutMillis: CONNECT_TIMEOUT.ms,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT.ms,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    onConnect: (client) => client.query(setTransactionTimeout()),
    types,
    application_name: "postloft",
  });
  // Without listeners a restart of PostgreSQL would end this process (node-postgres#2635).
  const note = createLossNotes(options.log);
  pool.on("error", (error, client) => note(client, error));
  pool.on("connect", (client) => client.on("error", (error) => note(client, error)));
  return pool;
}

/** Runs only if the server knows the setting, because older versions would reject the connection. */
const setTransactionTimeout = () => ({
  text: "select set_config('transaction_timeout', $1, false) where current_setting('server_version_num')::int >= 170000",
  values: [String(TRANSACTION_TIMEOUT_MS)],
  // A connection without a response must not block callers that wait for a connection.
  query_timeout: CONNECT_TIMEOUT.ms,
});

/** Logs lost connections as one short line, because a restart of PostgreSQL ends all of them together. */
function createLossNotes(log: Log): (client: PoolClient, error: Error) => void {
  const lost = new Set<PoolClient>();
  return (client, error) => {
    if (lost.size === 0)
      setTimeout(() => {
        log.warn(
          { connections: lost.size, code: databaseErrorCode(error), reason: error.message },
          "lost database connections, reconnecting",
        );
        lost.clear();
      }, LOSSES_NOTIFIED_AFTER_MS).unref();
    lost.add(client);
  };
}

export function createDatabase(pool: Pool): Database {
  const watch = createDatabaseWatch(pool);
  const names = new Map<string, string>();
  /** When each connection started to cache plans, in ms of `performance.now`. */
  const planningSince = new WeakMap<PoolClient, number>();
  async function purgeOldPlans(client: PoolClient): Promise<void> {
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
                  if (isMarked(text, PLANNED_OFTEN)) await purgeOldPlans(client);
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
  if (databaseErrorCode(error) === DISK_FULL) recordFullDisk();
  throw error;
}

function isMarked(text: string, mark: string): boolean {
  return text.trimStart().startsWith(mark);
}

function isTransactionControl(text: string): boolean {
  return text.length < 40 && /^(begin|commit|rollback|set|savepoint|release)/i.test(text);
}

/**
 * Runs `work` in one transaction. Runs it again from the start after a deadlock, a serialization failure or a conflict with a concurrent
 * change, so `work` must have no effect outside the database.
 */
export async function transaction<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tryAgain(async () => {
    const effects = recordEffects(database.effects.hub);
    const result = await database.transaction().execute((tx) => work(Object.assign(tx, { effects })));
    effects.release();
    return result;
  });
}

/** Retries like `transaction`, for work that is one statement and therefore its own transaction. */
export async function tryAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isConflict =
        RETRIED_CODES.has(databaseErrorCode(error) ?? "") ||
        violatedConstraint(error, CONFLICT_CONSTRAINTS) !== null;
      if (!isConflict || attempt >= MAX_TRANSACTION_ATTEMPTS) throw error;
    }
  }
}

/**
 * Sets the time limit in ms for each statement of this transaction, and removes all its other limits. Some statements process a million
 * rows.
 */
export async function limitStatements(tx: Tx, timeoutMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(tx);
  await allowLongWork(tx);
}

/** Removes the lock and transaction time limits for background work that no caller waits for. Each statement keeps its own time limit. */
export async function allowLongWork(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '0', true),
    case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', '0', true) end`.execute(
    tx,
  );
}

/**
 * Runs `work` in a savepoint. If `work` fails, its changes are undone and the transaction can continue.
 * @throws the error of `work`
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

/** Returns the SQLSTATE or system code of a database error, or null. */
export function databaseErrorCode(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const code: unknown = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : null;
}

/** SQLSTATE with which the coordinator of a cluster passes on errors of workers that it does not know. */
const INTERNAL_ERROR = "XX000";

/**
 * Returns which of these constraints rejected a row, or null. The name is in a field of the error, or for partitioned and distributed
 * tables only in its text, followed by the number of the partition or part.
 */
export function violatedConstraint<Name extends string>(error: unknown, names: readonly Name[]): Name | null {
  const code = databaseErrorCode(error) ?? "";
  const { constraint, message } = Object(error) as { constraint?: unknown; message?: unknown };
  const isOfWorker = code === INTERNAL_ERROR && /\bviolates\b/.test(String(message));
  if (!code.startsWith("23") && !isOfWorker) return null;
  const reported = [constraint, message].filter((text) => typeof text === "string");
  return names.find((name) => reported.some((text) => text.includes(name))) ?? null;
}

/** Turns an error that means "the database is away" into the AppError that callers may retry. Returns other errors unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 5 });
}

/** Returns whether a statement exceeded its time limit. */
export function isOutOfTime(error: unknown): boolean {
  return databaseErrorCode(error) === QUERY_CANCELED;
}

/** Returns whether a failed transaction certainly changed nothing. A connection lost during the commit leaves that open. */
export function wasRolledBack(error: unknown): boolean {
  if (databaseErrorCode(error) === LOCK_NOT_AVAILABLE) return true;
  return !(asUnavailable(error) instanceof AppError) || error instanceof AppError;
}

// Tests how database errors are classified, as temporary, a bug or an expected error, and whether the work may have taken effect.
import { Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { sql } from "kysely";
import { pino } from "pino";
import {
  allowLongWork,
  asUnavailable,
  createDatabase,
  createPool,
  LOCK_TIMEOUT,
  wasRolledBack,
  transaction,
} from "./database.ts";
import { AppError } from "../app-error.ts";
import { createTestDatabase } from "./test-database.ts";

function failure(code: string, message = "failed"): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  ["57P01", "terminating connection due to administrator command"],
  ["57P03", "the database system is starting up"],
  ["08006", "connection failure"],
  ["53300", "too many clients"],
  ["53100", "could not extend file"],
  ["25P03", "terminating connection due to idle-in-transaction timeout"],
  ["25P04", "terminating connection due to transaction timeout"],
  ["ECONNREFUSED", "connect ECONNREFUSED"],
  ["ECONNRESET", "read ECONNRESET"],
  ["", "Connection terminated unexpectedly"],
  ["", "timeout exceeded when trying to connect"],
])("%s %s: asks the caller to retry and does not count as rolled back", (code, message) => {
  const error = failure(code, message);
  expect(asUnavailable(error)).toBeInstanceOf(AppError);
  expect(wasRolledBack(error)).toBe(false);
});

test.each([
  ["23505", "duplicate key value violates unique constraint"],
  ["23514", "violates check constraint"],
  ["22P05", "unsupported Unicode escape sequence"],
  ["40P01", "deadlock detected"],
])("%s %s: rejects the statement, which certainly had no effect", (code, message) => {
  const error = failure(code, message);
  expect(asUnavailable(error)).toBe(error);
  expect(wasRolledBack(error)).toBe(true);
});

test("retries a conflict with a concurrent change and throws an error that persists", async () => {
  const { pool, drop } = await createTestDatabase();
  const database = createDatabase(pool);
  const gone = Object.assign(failure("23503"), { constraint: "events_project_id_contact_id_fkey" });
  const other = Object.assign(failure("23503"), { constraint: "segments_project_id_fkey" });
  const failing = (error: Error, times: number) => {
    let tries = 0;
    return transaction(database, async () => {
      if (++tries <= times) throw error;
      return tries;
    });
  };
  expect(await failing(gone, 2)).toBe(3);
  await expect(failing(gone, 100)).rejects.toBe(gone);
  await expect(failing(other, 1)).rejects.toBe(other);
  await drop();
});

test("an AppError of our own rolls back", () => {
  expect(wasRolledBack(new AppError("CONFLICT"))).toBe(true);
});

test("a lock timeout asks the caller to retry and certainly had no effect", () => {
  const error = failure("55P03", "canceling statement due to lock timeout");
  expect(asUnavailable(error)).toBeInstanceOf(AppError);
  expect(wasRolledBack(error)).toBe(true);
});

test("a request waits seconds for a lock and background work waits on", async () => {
  const { ms } = LOCK_TIMEOUT;
  onTestFinished(() => void (LOCK_TIMEOUT.ms = ms));
  LOCK_TIMEOUT.ms = 3_000;
  const { pool, drop } = await createTestDatabase();
  const database = createDatabase(pool);
  await sql`create table held (id int primary key, n int not null)`.execute(database);
  await sql`insert into held values (1, 0)`.execute(database);
  const add = sql`update held set n = n + 1 where id = 1`;
  const release = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const holder = transaction(database, async (tx) => {
    await add.execute(tx);
    isHeld.resolve();
    await release.promise;
  });
  await isHeld.promise;
  const patient = transaction(database, async (tx) => {
    await allowLongWork(tx);
    await add.execute(tx);
  });
  await expect(add.execute(database)).rejects.toMatchObject({ code: "55P03" });
  release.resolve();
  await Promise.all([holder, patient]);
  const { rows } = await sql<{ n: number }>`select n from held`.execute(database);
  expect(rows).toEqual([{ n: 2 }]);
  await drop();
});

test("a transaction ends even if its process hangs", async () => {
  const { connection, drop } = await createTestDatabase();
  const pool = createPool({ connection, maxConnections: 1, log: pino({ level: "silent" }) });
  const { rows } = await pool.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name in ('idle_in_transaction_session_timeout', 'transaction_timeout', 'server_version_num') order by 1",
  );
  const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]));
  expect(settings["idle_in_transaction_session_timeout"]).toBe(10_000);
  expect(settings["transaction_timeout"]).toBe(
    (settings["server_version_num"] ?? 0) >= 170_000 ? 60_000 : undefined,
  );
  await pool.end();
  await drop();
});

test("logs one short line when all connections are lost together", async () => {
  const { connection, pool: administrator, drop } = await createTestDatabase();
  const lines: string[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const pool = createPool({ connection, maxConnections: 5, log: pino({ level: "debug" }, output) });
  const clients = await Promise.all(Array.from({ length: 5 }, () => pool.connect()));
  for (const client of clients.slice(1)) client.release();
  await administrator.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    connections: 5,
    code: "57P01",
    msg: "lost database connections, reconnecting",
  });
  expect(lines[0]?.length).toBeLessThan(400);
  clients[0]?.release(true);
  await pool.end();
  await drop();
});

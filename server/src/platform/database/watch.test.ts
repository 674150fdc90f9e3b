// Tests a database behind a network that drops everything. Waiting callers fail soon, new callers fail immediately, and all recover
// afterwards.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { asUnavailable, CONNECT_TIMEOUT, createDatabase, createPool, type Database } from "./database.ts";
import { createLog } from "../log.ts";
import { AppError } from "../app-error.ts";
import { leastTime } from "../../testing/least-time.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

const log = createLog({ level: "silent" });
/** The limit is 5 s, plus some time for a busy machine. */
const NOTIFIED_MS = 7_000;

let testDatabase: TestDatabase;
let database: Database;
const network = { isGone: false, isClosed: false, sockets: new Set<Socket>() };
const closing: Array<() => Promise<unknown>> = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { port: realPort } = testDatabase.connection;
  const proxy = createServer((client) => {
    const server = connect(Number(realPort), "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      network.sockets.add(from);
      from.on("error", () => undefined).on("close", () => (network.sockets.delete(from), to.destroy()));
      from.pipe(to);
      if (network.isGone || network.isClosed) from.pause();
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  // The usual limit, which other tests raise.
  const patientMs = CONNECT_TIMEOUT.ms;
  CONNECT_TIMEOUT.ms = 4_000;
  const pool = createPool({ connection: { ...testDatabase.connection, port }, maxConnections: 4, log });
  CONNECT_TIMEOUT.ms = patientMs;
  database = createDatabase(pool);
  closing.push(
    () => pool.end(),
    async () => {
      for (const socket of network.sockets) socket.destroy();
      proxy.close();
    },
    () => testDatabase.drop(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

function setGone(isGone: boolean): void {
  network.isGone = isGone;
  for (const socket of network.sockets)
    if (isGone) socket.pause();
    else socket.resume();
}

const ask = async (seconds = 0) => {
  const startedMs = performance.now();
  const error = await sql`select pg_sleep(${seconds})`.execute(database).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return {
    error,
    isRefused: asUnavailable(error) instanceof AppError,
    tookMs: performance.now() - startedMs,
  };
};

/** Waits until two connections work at the same time. */
const connectTwice = () =>
  vi.waitUntil(async () => (await Promise.all([ask(0.1), ask(0.1)])).every(({ error }) => error === null), {
    timeout: 30_000,
    interval: 50,
  });

test("keeps all connections while the database responds on one, even if no new one succeeds", async () => {
  await connectTwice();
  network.isClosed = true;
  const others = { asked: 0, refused: 0, isOver: false };
  const askSlowly = async () => {
    const errors: unknown[] = [];
    // Longer than the suspicion and patience times together. A busy machine may stop this process for that time, so once may not be enough.
    do errors.push((await ask(5.5)).error);
    while (others.asked <= 10);
    others.isOver = true;
    return errors;
  };
  const slow = askSlowly();
  while (!others.isOver) {
    others.asked += 1;
    if ((await ask(0.05)).isRefused) others.refused += 1;
  }
  network.isClosed = false;
  for (const socket of network.sockets) socket.resume();
  expect(new Set(await slow)).toEqual(new Set([null]));
  expect(others.refused).toBe(0);
});

test("waits for a slow statement, but not for a database that does not respond", async () => {
  // Longer than the suspicion time.
  expect((await ask(3)).error).toBeNull();
  const timeFailures = async () => {
    setGone(false);
    await connectTwice();
    setGone(true);
    const failures = await Promise.all([ask(), ask()]);
    expect(failures.map(({ isRefused }) => isRefused)).toEqual([true, true]);
    return Math.max(...failures.map(({ tookMs }) => tookMs));
  };
  expect(await leastTime(NOTIFIED_MS, timeFailures)).toBeLessThan(NOTIFIED_MS);
  // A busy machine may delay one call, but not each of them.
  await vi.waitUntil(
    async () => {
      const next = await ask();
      expect(next.isRefused).toBe(true);
      return next.tookMs < 500;
    },
    { timeout: 30_000 },
  );
  setGone(false);
  await vi.waitUntil(async () => (await ask()).error === null, { timeout: 30_000, interval: 50 });
});

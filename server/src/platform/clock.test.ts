// Runs with a wrong clock on this machine and a right clock in the database.
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { followClock, now, nowMs, readClock } from "./clock.ts";
import { createDatabase, createPool, type Database } from "./database/database.ts";
import { idTimeMs, newId } from "./ids.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { createTestDatabase, type TestDatabase } from "./database/test-database.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const HOUR_MS = 60 * 60_000;
const log = createLog({ level: "silent" });
let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(createPool({ connection: testDatabase.connection, maxConnections: 2, log }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  // Resets the difference, which belongs to the whole process.
  (await followClock({ database, log, metrics: createMetrics() })).stop();
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

function setClock(wrongByMs: number): void {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() + wrongByMs });
}

async function follow() {
  const clock = await followClock({ database, log, metrics: createMetrics() });
  onTestFinished(() => clock.stop());
}

/** Returns how far times and ids made here are from the database's clock. */
async function distancesMs(): Promise<number[]> {
  const rightMs = (await readClock(database)).getTime();
  return [now().getTime(), nowMs(), idTimeMs(newId())].map((ms) => Math.abs(ms - rightMs));
}

const isClose = (ms: number) => ms < 1_000;

test("leaves clocks alone that agree within the measurable accuracy", async () => {
  const rightNow = Date.now;
  const clock = vi.spyOn(Date, "now").mockReturnValue(0);
  // The difference that servers of other test files measured on a busy machine stays in the process.
  const difference = nowMs();
  clock.mockImplementation(() => rightNow() - difference + 3);
  await follow();
  clock.mockReturnValue(0);
  expect(nowMs()).toBe(difference);
});

test.for([2, -2])(
  "uses the database's time for ids and times and warns when the clock is off by %d hours",
  async (hours) => {
    setClock(hours * HOUR_MS);
    const warn = vi.spyOn(log, "warn");
    await follow();
    expect((await distancesMs()).every(isClose)).toBe(true);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { aheadMs: expect.closeTo(-hours * HOUR_MS, -4) },
      expect.stringContaining("the clock of this machine"),
    );
  },
);

test("detects a clock that jumps within ten seconds", async () => {
  setClock(0);
  await follow();
  vi.setSystemTime(Date.now() - 2 * HOUR_MS);
  expect((await distancesMs()).some(isClose)).toBe(false);
  vi.advanceTimersByTime(10_000);
  await vi.waitFor(async () => expect((await distancesMs()).every(isClose)).toBe(true), WAIT);
});

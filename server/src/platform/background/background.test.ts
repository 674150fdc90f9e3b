// Tests when loops run, how long they wait after a failure, how they stop, and their metrics.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { retryUntilDone, startLoop, type Loop, type LoopOptions } from "./background.ts";
import { createLog } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";

const log = createLog({ level: "silent" });
let metrics: Metrics;
const loops: Loop[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  metrics = createMetrics();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
});

function start(options: Partial<LoopOptions>): Loop {
  const loop = startLoop({
    name: "tested",
    runOnce: async () => undefined,
    everyMs: 10_000,
    log,
    metrics,
    ...options,
  });
  loops.push(loop);
  return loop;
}

test("runs immediately and then on schedule, or earlier when a run returns a shorter wait", async () => {
  const waits = [0, 100, undefined, 99_000];
  const ranAtMs: number[] = [];
  const startedMs = performance.now();
  start({
    runOnce: async () => {
      ranAtMs.push(Math.round(performance.now() - startedMs));
      return waits.shift();
    },
  });
  await vi.advanceTimersByTimeAsync(21_000);
  expect(ranAtMs).toEqual([0, 0, 100, 10_100, 20_100]);
});

test("runs when notified, and once more after a run in progress", async () => {
  let runs = 0;
  const underWay = Promise.withResolvers<void>();
  const loop = start({
    runOnce: async () => {
      if (++runs === 2) await underWay.promise;
    },
  });
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(1);
  loop.wake();
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(2);
  loop.wake();
  loop.wake();
  underWay.resolve();
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(3);
});

test("waits longer after each failure up to its limit, even if notified, until a run succeeds", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  let isBroken = true;
  const ranAtMs: number[] = [];
  const startedMs = performance.now();
  const loop = start({
    everyMs: 1_000,
    runOnce: async () => {
      ranAtMs.push(Math.round(performance.now() - startedMs));
      if (isBroken) throw new Error("The database went away.");
    },
  });
  for (let passedMs = 0; passedMs < 18_000; passedMs += 100) {
    loop.wake();
    await vi.advanceTimersByTimeAsync(100);
  }
  // Half a second, doubled up to five seconds.
  expect(ranAtMs).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500]);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(4_500);
  expect(ranAtMs.at(-1)).toBe(22_500);
  const before = ranAtMs.length;
  await vi.advanceTimersByTimeAsync(3_000);
  expect(ranAtMs.length).toBeGreaterThanOrEqual(before + 2);
});

test("retries at different times in processes that failed together", async () => {
  const waitsMs = new Set<number>();
  for (const random of [0, 0.5, 0.8]) {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const startedMs = performance.now();
    let runs = 0;
    const loop = start({
      runOnce: async () => {
        if (++runs === 2) waitsMs.add(Math.round(performance.now() - startedMs));
        throw new Error("The database went away.");
      },
    });
    await vi.advanceTimersByTimeAsync(600);
    await loop.stop();
  }
  expect([...waitsMs]).toEqual([500, 375, 300]);
});

test("stops after the current run and signals the stop to that run", async () => {
  const underWay = Promise.withResolvers<void>();
  let runs = 0;
  let reported: AbortSignal | undefined;
  const loop = start({
    runOnce: async (signal) => {
      runs++;
      reported = signal;
      await underWay.promise;
    },
  });
  let isStopped = false;
  const stopping = loop.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([isStopped, reported?.aborted]).toEqual([false, true]);
  underWay.resolve();
  await stopping;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toBe(1);
});

test.each([
  ["before its first run", { delayMs: 60_000 }],
  ["between two runs", {}],
  [
    "after a failure",
    {
      runOnce: async () => {
        throw new Error("The database went away.");
      },
    },
  ],
])("stops immediately %s", async (_when, options) => {
  vi.useRealTimers();
  const loop = start({ everyMs: 60_000, ...options });
  await loop.stop();
  expect(await valueOf("runs_total")).toBeLessThanOrEqual(1);
});

async function valueOf(name: string): Promise<number> {
  const text = await metrics.registry.metrics();
  return Number(new RegExp(`^postloft_loop_${name}\\{loop="tested"\\} (\\S+)$`, "m").exec(text)?.[1]);
}

test("exports runs, errors, duration and the time of the last run of each loop", async () => {
  let runs = 0;
  const loop = start({
    runOnce: async () => {
      if (++runs === 2) throw new Error("The database went away.");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return 0;
    },
  });
  expect([await valueOf("runs_total"), await valueOf("errors_total")]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([await valueOf("runs_total"), await valueOf("errors_total")]).toEqual([3, 1]);
  expect(await valueOf("seconds_total")).toBeCloseTo(4);
  expect(await valueOf("last_run_timestamp_seconds")).toBeLessThanOrEqual(Date.now() / 1_000);
  const stopped = loop.stop();
  await vi.advanceTimersByTimeAsync(2_000);
  await stopped;
});

test("retries work until it commits and logs with decreasing frequency", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const reported: number[] = [];
  let tries = 0;
  const done = retryUntilDone(
    async () => {
      if (++tries < 10) throw new Error("The database went away.");
      return "booked";
    },
    { forMs: 60_000, tell: (failure) => reported.push(failure.tries) },
  );
  // 0.1 s, doubled up to one second, is 0.1 + 0.2 + 0.4 + 0.8 + 5 × 1.
  await vi.advanceTimersByTimeAsync(6_499);
  expect(tries).toBe(9);
  await vi.advanceTimersByTimeAsync(1);
  expect(await done).toBe("booked");
  expect(reported).toEqual([1, 2, 4, 8]);
});

test.each([
  ["the time is over", { forMs: 2_000 }],
  ["a retry is pointless", { forMs: 60_000, mayRepeat: (_error: unknown, tries: number) => tries < 3 }],
])("stops retrying when %s", async (_when, options) => {
  let tries = 0;
  const done = retryUntilDone(async () => {
    tries++;
    throw new Error("The database went away.");
  }, options);
  const outcome = done.catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await outcome).toBe("The database went away.");
  expect(tries).toBeGreaterThanOrEqual(3);
  expect(tries).toBeLessThan(9);
});

test("stops retrying and waiting when the signal aborts", async () => {
  vi.useRealTimers();
  const closing = new AbortController();
  let tries = 0;
  const done = retryUntilDone(
    async () => {
      tries++;
      throw new Error("The database went away.");
    },
    { forMs: 60_000, signal: closing.signal },
  );
  closing.abort();
  await expect(done).rejects.toThrow("went away");
  expect(tries).toBeLessThanOrEqual(2);
});

test("loops that lose the database together log one line, and one when it is back", async () => {
  const warn = vi.spyOn(log, "warn");
  const info = vi.spyOn(log, "info");
  let isAway = true;
  for (const name of ["first", "second", "third"])
    start({
      name,
      runOnce: async () => {
        if (isAway) throw new Error("timeout exceeded when trying to connect");
      },
    });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(warn.mock.calls.map(([fields]) => fields)).toEqual([
    expect.objectContaining({ loops: ["first", "second", "third"] }),
  ]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(info.mock.calls).toEqual([["reached the database again, loops continue"]]);
});

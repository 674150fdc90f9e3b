// Runs loops in the background: by the clock or when woken, with longer waits after each failure and a line each in /metrics. Also retries
// work until it commits.
import type { Database } from "../database/database.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { subscribe, type Topic } from "../notify.ts";
import { isUnreachable } from "../unavailable.ts";
import { createWakeUp } from "./wake-up.ts";

export interface LoopOptions {
  /** As it stands in /metrics and in the log. Loops of one name share a line. */
  name: string;
  /**
   * One run. Resolves to the time after which the next one is worth it, ms (0: there is more to do now), or to nothing: `everyMs`.
   *
   * @param signal says that the loop stops: what can wait for the next start should
   */
  runOnce: (signal: AbortSignal) => Promise<number | void>;
  /** Between the end of a run and the next one, at most, unless it failed. */
  everyMs: number;
  /** Before the first run. Default 0. */
  delayMs?: number;
  /** Runs when work of this topic was committed, by this process or another one. */
  notifiedBy?: { database: Database; topic: Topic };
  log: Log;
  metrics: Metrics;
}

export interface Loop {
  /** There is work: run now, or again after this run. After a failure the wait is not cut short. */
  wake(): void;
  /** Begins no further run. Resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** After the first failure; twice as long after each further one. */
const FIRST_RETRY_MS = 500;
/** The longest wait after a failure: as long as between two runs, but within these. */
const LONGEST_RETRY_MS = { atLeast: 5_000, atMost: 60_000 };

/** One warning reports all loops that fail within this time, because they lose the database together. */
const OUTAGE_LOGGED_AFTER_MS = 1_000;

interface Outage {
  /** Loops whose last run could not reach the database. */
  loops: Set<string>;
  /** The same, and those that have reached it since. */
  failed: Set<string>;
  isLogged: boolean;
}

/** One for each log, because the loops of a process share one. */
const outages = new WeakMap<Log, Outage>();

function noteOutage(log: Log, loop: string, error: unknown): void {
  const outage = outages.get(log) ?? { loops: new Set(), failed: new Set(), isLogged: false };
  outage.loops.add(loop);
  outage.failed.add(loop);
  if (outages.has(log)) return;
  outages.set(log, outage);
  setTimeout(() => {
    outage.isLogged = true;
    log.warn({ err: error, loops: [...outage.failed] }, "the database couldn't be reached; loops retry");
  }, OUTAGE_LOGGED_AFTER_MS).unref();
}

/** Returns whether the loop had failed because of an outage. */
function endOutage(log: Log, loop: string): boolean {
  const outage = outages.get(log);
  if (outage?.loops.delete(loop) !== true) return false;
  if (outage.loops.size === 0) {
    outages.delete(log);
    if (outage.isLogged) log.info("the database is reached again; loops continue");
  }
  return true;
}

export function startLoop(options: LoopOptions): Loop {
  const { name, runOnce, everyMs, delayMs = 0, notifiedBy, log, metrics } = options;
  const longestRetryMs = Math.min(Math.max(everyMs, LONGEST_RETRY_MS.atLeast), LONGEST_RETRY_MS.atMost);
  const wakeUp = createWakeUp();
  const stopped = createWakeUp();
  const stopping = new AbortController();
  let failures = 0;

  /** Never throws. */
  async function runAndWait(): Promise<void> {
    const startedMs = performance.now();
    let waitMs = everyMs;
    let hasFailed = false;
    try {
      waitMs = Math.min(everyMs, (await runOnce(stopping.signal)) ?? everyMs);
      if (!endOutage(log, name) && failures > 0) log.info({ loop: name, failures }, "a loop works again");
      failures = 0;
    } catch (error) {
      hasFailed = true;
      failures++;
      metrics.loopErrors.inc({ loop: name });
      if (isUnreachable(error)) noteOutage(log, name, error);
      else if (isWorthTelling(failures))
        log.warn({ err: error, loop: name, failures }, "a run of a loop failed; it is tried again");
    }
    metrics.loopRuns.inc({ loop: name });
    metrics.loopSeconds.inc({ loop: name }, (performance.now() - startedMs) / 1_000);
    metrics.loopLastRun.setToCurrentTime({ loop: name });
    if (stopping.signal.aborted) return;
    if (hasFailed) await stopped.wait(backOffMs(failures, FIRST_RETRY_MS, longestRetryMs));
    else if (waitMs > 0) await wakeUp.wait(waitMs);
  }

  async function run(): Promise<void> {
    if (delayMs > 0) await wakeUp.wait(delayMs);
    while (!stopping.signal.aborted) await runAndWait();
  }

  for (const counter of [metrics.loopRuns, metrics.loopErrors]) counter.inc({ loop: name }, 0);
  const unsubscribe = notifiedBy && subscribe(notifiedBy.database, notifiedBy.topic, wakeUp.wake);
  const running = run();
  return {
    wake: () => wakeUp.wake(),
    async stop() {
      unsubscribe?.();
      stopping.abort();
      wakeUp.wake();
      stopped.wake();
      await running;
      outages.get(log)?.loops.delete(name);
    },
  };
}

export interface Insistence {
  /** How long it is tried, ms. */
  forMs: number;
  /** Whether to try once more after a failure. Default: always. */
  mayRepeat?: (error: unknown, tries: number) => boolean;
  /** Ends it with the next failure, and the wait for the next try. */
  signal?: AbortSignal;
  /** What the log says when a try failed. Default: nothing. */
  tell?: (failure: { err: unknown; tries: number }) => void;
}

const FIRST_REPEAT_MS = 100;
const LONGEST_REPEAT_MS = 1_000;

/**
 * Does work again until it succeeds: for what this process alone knows and must not forget while the database is away.
 *
 * @throws what `work` threw last when the time is over, `mayRepeat` says no, or the signal ends it
 */
export async function insist<T>(work: () => Promise<T>, options: Insistence): Promise<T> {
  const { forMs, mayRepeat = () => true, signal, tell = () => undefined } = options;
  const untilMs = performance.now() + forMs;
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isOver = performance.now() >= untilMs || signal?.aborted === true;
      if (isOver || !mayRepeat(error, tries)) throw error;
      if (isWorthTelling(tries)) tell({ err: error, tries });
      await waitUntil(signal, backOffMs(tries, FIRST_REPEAT_MS, LONGEST_REPEAT_MS));
    }
  }
}

async function waitUntil(signal: AbortSignal | undefined, ms: number): Promise<void> {
  const ended = createWakeUp();
  signal?.addEventListener("abort", ended.wake);
  await ended.wait(ms);
  signal?.removeEventListener("abort", ended.wake);
}

/** A disk that is full must not be filled further with the same line: the first failure, the second, the fourth, and so on. */
function isWorthTelling(failures: number): boolean {
  return Math.log2(failures) % 1 === 0;
}

/** Doubles up to the longest, less up to a half of it, so that processes that failed together do not come back together. */
function backOffMs(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (1 - Math.random() / 2);
}

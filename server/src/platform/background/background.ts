// Runs loops in the background: by the clock or when woken, with longer waits after each failure and a line each in /metrics. Also retries
// work until it commits.
import type { Database } from "../database/database.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { subscribe, type Topic } from "../notify.ts";
import { isUnreachable } from "../unavailable.ts";
import { createWakeUp } from "./wake-up.ts";

export interface LoopOptions {
  /** The name in /metrics and in the log. Loops with the same name share a line. */
  name: string;
  /**
   * Does one run and resolves to the milliseconds until the next useful run. 0 means that there is more to do now, and nothing means
   * `everyMs`.
   * @param signal aborts when the loop stops, so that the run leaves deferrable work for the next start
   */
  runOnce: (signal: AbortSignal) => Promise<number | void>;
  /** The longest wait between the end of a successful run and the next run. */
  everyMs: number;
  /** The wait before the first run. Default 0. */
  delayMs?: number;
  /** Runs when work of this topic was committed, by this process or another one. */
  notifiedBy?: { database: Database; topic: Topic };
  log: Log;
  metrics: Metrics;
}

export interface Loop {
  /** Runs now, or again after the current run. Does not shorten the wait after a failure. */
  wake(): void;
  /** Starts no further run and resolves when the current run has ended. */
  stop(): Promise<void>;
}

/** The wait after the first failure, doubled after each further failure. */
const FIRST_RETRY_MS = 500;
/** Bounds for the longest wait after a failure, which otherwise is `everyMs`. */
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

function recordOutage(log: Log, loop: string, error: unknown): void {
  const outage = outages.get(log) ?? { loops: new Set(), failed: new Set(), isLogged: false };
  outage.loops.add(loop);
  outage.failed.add(loop);
  if (outages.has(log)) return;
  outages.set(log, outage);
  setTimeout(() => {
    outage.isLogged = true;
    log.warn({ err: error, loops: [...outage.failed] }, "cannot reach the database, loops retry");
  }, OUTAGE_LOGGED_AFTER_MS).unref();
}

/** Returns whether the loop had failed because of an outage. */
function endOutage(log: Log, loop: string): boolean {
  const outage = outages.get(log);
  if (outage?.loops.delete(loop) !== true) return false;
  if (outage.loops.size === 0) {
    outages.delete(log);
    if (outage.isLogged) log.info("reached the database again, loops continue");
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

  async function runAndWait(): Promise<void> {
    const startedMs = performance.now();
    let waitMs = everyMs;
    let hasFailed = false;
    try {
      waitMs = Math.min(everyMs, (await runOnce(stopping.signal)) ?? everyMs);
      if (!endOutage(log, name) && failures > 0) log.info({ loop: name, failures }, "loop works again");
      failures = 0;
    } catch (error) {
      hasFailed = true;
      failures++;
      metrics.loopErrors.inc({ loop: name });
      if (isUnreachable(error)) recordOutage(log, name, error);
      else if (isWorthLogging(failures))
        log.warn({ err: error, loop: name, failures }, "loop failed, retrying");
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

export interface RetryOptions {
  /** How long to retry, in ms. */
  forMs: number;
  /** Returns whether to try once more after a failure. Default: always. */
  mayRepeat?: (error: unknown, tries: number) => boolean;
  /** Ends the retries at the next failure, and any wait between tries. */
  signal?: AbortSignal;
  /** Logs a failed try. Default: nothing. */
  tell?: (failure: { err: unknown; tries: number }) => void;
}

const FIRST_REPEAT_MS = 100;
const LONGEST_REPEAT_MS = 1_000;

/**
 * Retries work until it succeeds. Used for results that only this process knows and must not lose while the database is away.
 * @throws the last error of `work` when the time is over, `mayRepeat` returns false or the signal aborts
 */
export async function retryUntilDone<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { forMs, mayRepeat = () => true, signal, tell = () => undefined } = options;
  const untilMs = performance.now() + forMs;
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isOver = performance.now() >= untilMs || signal?.aborted === true;
      if (isOver || !mayRepeat(error, tries)) throw error;
      if (isWorthLogging(tries)) tell({ err: error, tries });
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

/**
 * Returns whether to log this failure, which is the first, second, fourth, eighth and so on. A full disk must not fill up further with one
 * line.
 */
function isWorthLogging(failures: number): boolean {
  return Math.log2(failures) % 1 === 0;
}

/**
 * Returns a wait that doubles up to the longest one, minus a random part of up to half. The random part spreads the retries of processes
 * that failed together.
 */
function backOffMs(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (1 - Math.random() / 2);
}

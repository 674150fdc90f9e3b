// Looks at the outbox now and then for /metrics: how much waits of each kind and since when, what nobody knows the end of, how fast it goes.
// Before it: sender.ts starts it and tells each handover. After it: platform/metrics.ts shows the numbers.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { countUnconfirmed, measureQueue } from "./measure-queries.ts";

const MEASURE_MS = 10_000;

export interface QueueMeasure {
  /** A mail was handed over. */
  count(): void;
  stop(): void;
}

export function startQueueMeasure(options: { database: Database; log: Log; metrics: Metrics }): QueueMeasure {
  const { metrics } = options;
  let handovers = 0;
  let sinceMs = performance.now();

  function measureRate(): void {
    const now = performance.now();
    metrics.handoversPerSecond.set((handovers * 1000) / (now - sinceMs));
    handovers = 0;
    sinceMs = now;
  }

  const timer = setInterval(() => {
    measureRate();
    void measure(options);
  }, MEASURE_MS);
  return {
    count: () => void handovers++,
    stop: () => clearInterval(timer),
  };
}

/** Reads the queue once. Never throws: without the database the numbers stay as they were. */
export async function measure(options: { database: Database; log: Log; metrics: Metrics }): Promise<void> {
  const { database, log, metrics } = options;
  try {
    const waiting = new Map((await measureQueue(database)).map((row) => [row.priority, row]));
    for (const [at, kind] of EMAIL_KINDS.entries()) {
      metrics.emailsQueued.set({ kind }, waiting.get(at + 1)?.due ?? 0);
      metrics.oldestQueuedSeconds.set({ kind }, waiting.get(at + 1)?.oldest_seconds ?? 0);
    }
    metrics.emailsUnconfirmed.set(await countUnconfirmed(database));
  } catch (error) {
    log.debug({ err: error }, "the queue could not be measured");
  }
}

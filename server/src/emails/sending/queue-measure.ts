// Measures the outbox for /metrics, with due emails and their age by kind, unconfirmed emails and the sending rate.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import { startLoop } from "../../platform/background/background.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { countUnconfirmed, measureQueue } from "./measure-queries.ts";

const MEASURE_MS = 10_000;

export interface QueueMeasure {
  /** Counts a sent email. */
  count(): void;
  stop(): Promise<void>;
}

export function startQueueMeasure(options: { database: Database; log: Log; metrics: Metrics }): QueueMeasure {
  const { log, metrics } = options;
  let submissions = 0;
  let sinceMs = performance.now();

  function measureRate(): void {
    const now = performance.now();
    metrics.handoversPerSecond.set((submissions * 1000) / (now - sinceMs));
    submissions = 0;
    sinceMs = now;
  }

  const loop = startLoop({
    name: "queue measure",
    runOnce: async () => {
      measureRate();
      await measure(options);
    },
    everyMs: MEASURE_MS,
    delayMs: MEASURE_MS,
    log,
    metrics,
  });
  return {
    count: () => void submissions++,
    stop: () => loop.stop(),
  };
}

/** Measures the queue once. The metrics keep their values if the database is unreachable. */
export async function measure({
  database,
  metrics,
}: {
  database: Database;
  metrics: Metrics;
}): Promise<void> {
  const waiting = new Map((await measureQueue(database)).map((row) => [row.priority, row]));
  for (const [at, kind] of EMAIL_KINDS.entries()) {
    metrics.emailsQueued.set({ kind }, waiting.get(at + 1)?.due ?? 0);
    metrics.oldestQueuedSeconds.set({ kind }, waiting.get(at + 1)?.oldestSeconds ?? 0);
  }
  metrics.emailsUnconfirmed.set(await countUnconfirmed(database));
}

// Numbers the outbox events of projects. Number, log row and counter commit together, so that numbers have no gaps.
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { takeEveryEvent } from "../reactions/reactions.ts";
import { SUBSCRIBER } from "./numbered-log.ts";
import { insertNumbered, listProjectsToNumber, lockStream } from "./log-queries.ts";

const POLL_MS = 1_000;
/** Events per transaction. */
const BATCH_SIZE = 1_000;
/** Batches of one project per turn. Then the next project follows. */
const MAX_BATCHES = 10;

/** Numbers one batch of a project. Returns whether there may be more. Returns false if another process is numbering. */
export async function numberEvents(tx: Tx, projectId: string): Promise<boolean> {
  const lastNumber = await lockStream(tx, projectId);
  if (lastNumber === undefined) return false;
  const taken = await takeEveryEvent(tx, { projectId, subscriber: SUBSCRIBER, limit: BATCH_SIZE });
  if (taken.length === 0) return false;
  const events = taken.map((event) => ({ ...event, at: new Date(idTimeMs(event.id)) }));
  await insertNumbered(tx, projectId, lastNumber, events);
  return taken.length === BATCH_SIZE;
}

/** Numbers the events of all projects until it is stopped. Any number of processes may run it. */
export function startNumberingEvents(options: { database: Database; log: Log; metrics: Metrics }): Loop {
  const { database, log, metrics } = options;

  async function runOnce(signal: AbortSignal): Promise<number | void> {
    let hasMore = false;
    for (const projectId of await listProjectsToNumber(database, SUBSCRIBER))
      try {
        let isFull = true;
        for (let batch = 0; isFull && batch < MAX_BATCHES && !signal.aborted; batch++)
          isFull = await transaction(database, (tx) => numberEvents(tx, projectId));
        hasMore ||= isFull;
      } catch (error) {
        log.warn({ err: error, projectId }, "failed to number the events of a project, retrying");
      }
    return hasMore ? 0 : POLL_MS;
  }

  // Recording an event notifies the workflows, which wait for the same commit.
  const notifiedBy = { database, topic: "workflows" } as const;
  return startLoop({ name: "event numbers", runOnce, everyMs: POLL_MS, notifiedBy, log, metrics });
}

// Keeps tracked segments current. Changed contacts are checked within seconds, and time conditions periodically.
import { startLoop } from "../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { AppError } from "../platform/app-error.ts";
import { listProjectsWithReactions, takeReactions, type Reaction } from "../reactions/reactions.ts";
import { markOfEmails } from "../events/arrived-events.ts";
import { compute, computeDueSegment } from "./compute-segment.ts";
import {
  countTrackedSegments,
  listDueSegments,
  lockTrackedSegments,
  updateAllDue,
  updateComputeDue,
  updateTimeBasedDue,
  type SegmentRow,
} from "./queries.ts";
import type { Among } from "./member-queries.ts";
import { canMove } from "./rules.ts";

const POLL_MS = 4_000;
/** Poll interval for segments that need a full computation. */
const COMPUTE_POLL_MS = 6_000;
/** Maximum number of outbox events per transaction. */
const BATCH_SIZE = 2_000;
/** Batches of one project per turn. Then the next project follows, and the rest waits for the next turn. */
const MAX_BATCHES = 20;
/** Maximum delay of a time condition (decisions §5). */
const TIME_BASED_EVERY_MS = 5 * 60_000;
const SCHEDULE_EVERY_MS = 30_000;
const MAX_PARTS = 1_000;

export interface SegmentFollower {
  stop(): Promise<void>;
}

/**
 * Processes one batch of outbox events of a project and returns whether there may be more. Returns false if another process works on the
 * project.
 */
export async function followChanges(database: Database, projectId: string): Promise<boolean> {
  return transaction(database, async (tx) => {
    const tracked = await lockTrackedSegments(tx, projectId);
    if (tracked.length < (await countTrackedSegments(tx, projectId))) return false;
    const changes = await takeReactions(tx, { projectId, subscriber: "segments", limit: BATCH_SIZE });
    const marked = await markOfEmails(tx, projectId, changes);
    for (const segment of tracked) {
      const moved = marked.filter(({ eventName }) => canMove(segment.causes, eventName));
      const contactIds = distinctContacts(moved);
      const fromPublicKey = distinctContacts(moved.filter((change) => change.fromPublicKey));
      if (contactIds.length > 0) await follow(tx, projectId, segment, { contactIds, fromPublicKey });
    }
    return changes.length === BATCH_SIZE;
  });
}

const distinctContacts = (changes: readonly Reaction[]) => [
  ...new Set(changes.map(({ contactId }) => contactId)),
];

/** One that is refused (too large to be asked) holds up no other: it is due as a whole until it can be. */
async function follow(tx: Tx, projectId: string, segment: SegmentRow, among: Among): Promise<void> {
  try {
    await compute(tx, projectId, segment, among);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    await updateComputeDue(tx, projectId, [segment.id]);
  }
}

/** Marks tracked segments as due after old events were deleted, because members may have matched only through those events. */
export async function enqueueExpiredEvents(tx: Tx, projectIds: readonly string[]): Promise<void> {
  await updateAllDue(tx, projectIds);
}

/** Syncs changes, computes due segments and schedules time conditions until it is stopped. A long computation delays no change. */
export function startFollowingChanges(options: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): SegmentFollower {
  const { database, log, metrics } = options;

  /** Repeats while there is more, up to a limit. An error ends only this run. */
  async function drain(
    ids: Readonly<Record<string, string>>,
    maximum: number,
    signal: AbortSignal,
    look: () => Promise<boolean>,
  ) {
    try {
      for (let times = 0; times < maximum && !signal.aborted; times++) if (!(await look())) return;
    } catch (error) {
      log.warn({ err: error, ...ids }, "failed to update a tracked segment, retrying");
    }
  }

  async function syncAll(signal: AbortSignal): Promise<void> {
    for (const projectId of await listProjectsWithReactions(database, "segments"))
      await drain({ projectId }, MAX_BATCHES, signal, () => followChanges(database, projectId));
  }

  async function computeDue(signal: AbortSignal): Promise<void> {
    for (const { projectId, id } of await listDueSegments(database))
      await drain({ projectId, segmentId: id }, MAX_PARTS, signal, () =>
        computeDueSegment(database, projectId, id),
      );
  }

  const common = { notifiedBy: { database, topic: "segments" }, log, metrics } as const;
  const loops = [
    startLoop({ name: "segment changes", runOnce: syncAll, everyMs: POLL_MS, ...common }),
    startLoop({ name: "segment members", runOnce: computeDue, everyMs: COMPUTE_POLL_MS, ...common }),
    startLoop({
      name: "segments by the clock",
      runOnce: () => updateTimeBasedDue(database, TIME_BASED_EVERY_MS),
      everyMs: SCHEDULE_EVERY_MS,
      ...common,
    }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

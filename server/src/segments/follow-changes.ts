// Keeps tracked segments current: contacts that something happened to are looked at within seconds, conditions on time by the clock.
import { startLoop } from "../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { Refusal } from "../platform/refusal.ts";
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
/** Segments whose members are to be computed as a whole. */
const COMPUTE_POLL_MS = 6_000;
/** Notes looked at in one transaction. */
const BATCH_SIZE = 2_000;
/** Of one project in one turn; the next project follows, the rest is due in the next turn. */
const MAX_BATCHES = 20;
/** How late a condition on time may be (decisions §5). */
const TIME_BASED_EVERY_MS = 5 * 60_000;
const SCHEDULE_EVERY_MS = 30_000;
const MAX_PARTS = 1_000;

export interface SegmentFollower {
  stop(): Promise<void>;
}

/** Looks once at what was noted in a project; returns whether there may be more. Another process at the same project: no. */
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
    if (!(error instanceof Refusal)) throw error;
    await updateComputeDue(tx, projectId, [segment.id]);
  }
}

/** Events of these projects were too old to be kept: whoever was in a tracked segment because of them is looked at again. */
export async function noteExpiredEvents(tx: Tx, projectIds: readonly string[]): Promise<void> {
  await updateAllDue(tx, projectIds);
}

/** Follows changes, computes what is due and says what is, until it is stopped; a long computation holds up no change. */
export function startFollowingChanges(options: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): SegmentFollower {
  const { database, log, metrics } = options;

  /** Goes on while there is more, within bounds; a fault stops this one alone. */
  async function drain(
    ids: Readonly<Record<string, string>>,
    maximum: number,
    signal: AbortSignal,
    look: () => Promise<boolean>,
  ) {
    try {
      for (let times = 0; times < maximum && !signal.aborted; times++) if (!(await look())) return;
    } catch (error) {
      log.warn({ err: error, ...ids }, "a tracked segment could not be brought up to date; it tries again");
    }
  }

  async function followAll(signal: AbortSignal): Promise<void> {
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
    startLoop({ name: "segment changes", runOnce: followAll, everyMs: POLL_MS, ...common }),
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

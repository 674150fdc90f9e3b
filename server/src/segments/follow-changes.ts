// Keeps tracked segments current: contacts that something happened to are looked at within seconds, conditions on time by the clock.
// Before it: events/contact-changes.ts holds what happened. After it: compute-segment.ts moves members and emits their events.
import { createBell } from "../platform/bell.ts";
import { transaction, type Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import { listProjectsWithChanges, takeContactChanges } from "../events/contact-changes.ts";
import { compute, computeDueSegment } from "./compute-segment.ts";
import { countTrackedSegments, listDueSegments, lockTrackedSegments, updateTimeBasedDue } from "./queries.ts";
import { canMove } from "./rules.ts";

const POLL_MS = 1_000;
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

/** Looks once at what was noted in a project; answers whether there may be more. Another process at the same project: no. */
export async function followChanges(database: Database, projectId: string): Promise<boolean> {
  return transaction(database, async (tx) => {
    const tracked = await lockTrackedSegments(tx, projectId);
    if (tracked.length < (await countTrackedSegments(tx, projectId))) return false;
    const changes = await takeContactChanges(tx, projectId, BATCH_SIZE);
    for (const segment of tracked) {
      const moved = changes.filter(({ cause }) => canMove(segment.causes, cause));
      const contactIds = [...new Set(moved.map(({ contactId }) => contactId))];
      if (contactIds.length > 0) await compute(tx, projectId, segment, contactIds);
    }
    return changes.length === BATCH_SIZE;
  });
}

/** Follows changes and computes what is due, every second until it is stopped; a long computation holds up no change. */
export function startFollowingChanges(options: { database: Database; log: Log }): SegmentFollower {
  const { database, log } = options;
  const stopping = new AbortController();
  let nextScheduleMs = 0;

  /** Goes on while there is more, within bounds; a fault stops this one alone. */
  async function drain(ids: Readonly<Record<string, string>>, maximum: number, look: () => Promise<boolean>) {
    try {
      for (let times = 0; times < maximum && !stopping.signal.aborted; times++) if (!(await look())) return;
    } catch (error) {
      log.warn({ err: error, ...ids }, "a tracked segment could not be brought up to date; it tries again");
    }
  }

  async function followAll(): Promise<void> {
    for (const projectId of await listProjectsWithChanges(database))
      await drain({ projectId }, MAX_BATCHES, () => followChanges(database, projectId));
  }

  async function computeDue(): Promise<void> {
    if (performance.now() >= nextScheduleMs) {
      nextScheduleMs = performance.now() + SCHEDULE_EVERY_MS;
      await updateTimeBasedDue(database, TIME_BASED_EVERY_MS);
    }
    for (const { project_id: projectId, id } of await listDueSegments(database))
      await drain({ projectId, segmentId: id }, MAX_PARTS, () => computeDueSegment(database, projectId, id));
  }

  async function repeat(look: () => Promise<void>): Promise<void> {
    const bell = createBell();
    stopping.signal.addEventListener("abort", () => bell.ring());
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) =>
        log.warn({ err: error }, "tracked segments could not be looked at; it tries again"),
      );
      if (!stopping.signal.aborted) await bell.wait(POLL_MS);
    }
  }

  const running = [repeat(followAll), repeat(computeDue)];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

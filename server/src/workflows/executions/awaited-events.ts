// Reads the events since each wait began. Most waits accept the first event, but a filter may pass over any number of them. The events are
// therefore read page by page up to a limit per transaction.
import { nextTurn } from "../../platform/background/turns.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import type { Tx } from "../../platform/database/database.ts";
import {
  EVENTS_OF_A_WAIT,
  listArrivedEvents,
  type Arrived,
  type EventWait,
} from "../../events/arrived-events.ts";
import type { SegmentSource } from "../../segments/filters/load-segments.ts";
import { openRun, stepOf, waitStart, type Execution } from "./execution.ts";
import type { ArrivedEvent, UnreadEvents } from "./steps/step.ts";
import { filterOfWait, fits } from "./steps/wait-for-event.ts";

/** Pages read per wait and poll. */
const PAGES_A_LOOK = 10;
/** No transaction that records events lasts longer. Older events are all visible, and no new event can appear before them. */
const SETTLED_MS = 60_000;

interface Wait extends EventWait {
  filter: Filter | undefined;
  untilMs: number;
}

/** For each execution, the last page of events, and where to continue if no event matched and more pages remain. */
export interface Awaited {
  events: Map<string, ArrivedEvent[]>;
  unread: Map<string, UnreadEvents>;
}

export async function readAwaited(
  tx: Tx,
  {
    projectId,
    executions,
    now,
    ...facts
  }: {
    projectId: string;
    executions: readonly Execution[];
    now: Date;
    segments: ReadonlyMap<string, SegmentSource>;
  },
): Promise<Awaited> {
  const awaited: Awaited = { events: new Map(), unread: new Map() };
  let waits = executions.flatMap((execution) => waitOf(execution) ?? []);
  for (let pages = 1; waits.length > 0; pages++) {
    const arrived = Map.groupBy(await listArrivedEvents(tx, projectId, waits), ({ waitId }) => waitId);
    const further: Wait[] = [];
    for (const wait of waits) {
      const page = arrived.get(wait.waitId) ?? [];
      awaited.events.set(wait.waitId, page);
      const last = page.at(-1);
      if (last === undefined || !mayBeBehind(wait, page)) continue;
      await nextTurn();
      if (page.some((event) => isAwaited(wait, event))) continue;
      if (pages < PAGES_A_LOOK) further.push({ ...wait, behind: last.place });
      else awaited.unread.set(wait.waitId, unreadBehind(last, now));
    }
    waits = further;
  }
  return awaited;

  function isAwaited({ filter, untilMs }: Wait, event: Arrived): boolean {
    return event.at.getTime() < untilMs && (filter === undefined || fits(filter, event, facts, now));
  }
}

function waitOf(execution: Execution): Wait | null {
  const step = stepOf(execution);
  const run = openRun(execution);
  const { contactId, id: waitId } = execution;
  if (step?.type !== "WAIT_FOR_EVENT" || run === undefined || contactId === null) return null;
  const { eventName } = step.config;
  const filter = filterOfWait(step.config, run);
  const { until: untilMs = Infinity, behind } = run;
  const since = new Date(waitStart(execution));
  return { waitId, contactId, eventName, since, behind, filter, untilMs };
}

/** Returns whether a matching event can be on a later page. */
function mayBeBehind({ filter, untilMs }: Wait, page: readonly Arrived[]): boolean {
  const isFull = page.length >= EVENTS_OF_A_WAIT;
  return filter !== undefined && isFull && (page.at(-1)?.at.getTime() ?? Infinity) < untilMs;
}

/** Continues immediately after settled events. Younger events are read again once they are settled. */
function unreadBehind({ at, place }: Arrived, now: Date): UnreadEvents {
  const settledAt = new Date(at.getTime() + SETTLED_MS);
  return settledAt <= now ? { behind: place, lookAt: now } : { lookAt: settledAt };
}

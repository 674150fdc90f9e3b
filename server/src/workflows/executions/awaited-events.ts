// What happened since waits for events began. Most waits take the first event there is; a filter may pass over any number of them, so what
// is behind is read page by page, as far as one transaction should go, and from there in the next one.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Filter } from "@postloft/contract/filters.ts";
import type { Tx } from "../../platform/database/database.ts";
import {
  EVENTS_OF_A_WAIT,
  listArrivedEvents,
  type Arrived,
  type EventWait,
} from "../../events/arrived-events.ts";
import type { SegmentSource } from "../../segments/filters/load-segments.ts";
import { openRun, stepOf, waitBegan, type Execution } from "./execution.ts";
import type { ArrivedEvent, UnreadEvents } from "./steps/step.ts";
import { fits } from "./steps/wait-for-event.ts";

/** Of one wait in one look. */
const PAGES_A_LOOK = 10;
/** No transaction that records events lasts longer: an event that is older is there to be seen, and no other comes before it any more. */
const SETTLED_MS = 60_000;

interface Wait extends EventWait {
  filter: Filter | undefined;
  untilMs: number;
}

/** By execution: a page of what happened, and where to read on where it was not the last one and none of it is waited for. */
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
  const { eventName, filter } = step.config;
  const { until: untilMs = Infinity, behind } = run;
  const since = new Date(waitBegan(execution));
  return { waitId, contactId, eventName, since, behind, filter, untilMs };
}

/** Whether an event that is waited for may come behind this page, and not in it. */
function mayBeBehind({ filter, untilMs }: Wait, page: readonly Arrived[]): boolean {
  const isFull = page.length >= EVENTS_OF_A_WAIT;
  return filter !== undefined && isFull && (page.at(-1)?.at.getTime() ?? Infinity) < untilMs;
}

/** Behind what is settled it goes on at once; what is younger is read again when it is. */
function unreadBehind({ at, place }: Arrived, now: Date): UnreadEvents {
  const settledAt = new Date(at.getTime() + SETTLED_MS);
  return settledAt <= now ? { behind: place, lookAt: now } : { lookAt: settledAt };
}

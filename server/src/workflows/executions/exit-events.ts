// Reads the events of exit conditions and goals for executions that no reaction could find, because they had not started, had failed or
// were in another version.
import type { Database } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import {
  EVENTS_OF_A_WAIT,
  listArrivedEvents,
  type Arrived,
  type EventWait,
} from "../../events/arrived-events.ts";
import { isJustMoved, type Execution, type NamedEvent, type WalkableGraph } from "./execution.ts";

/** Pages of events read for each execution and event. More events of one name in this time are not expected. */
const MOST_PAGES = 10;

/** Returns whether the events since the start have not been checked: an execution that begins, was moved, or continues after a failure. */
const isUnchecked = (execution: Execution) =>
  execution.trace.length === 0 || execution.trace.at(-1)?.is === "FAILED" || isJustMoved(execution);

function namesOf({ exitConditions, goal }: WalkableGraph): Set<string> {
  const exits = exitConditions.flatMap((one) => (one.type === "EVENT" ? [one.eventName] : []));
  return new Set(goal === undefined ? exits : [...exits, goal.eventName]);
}

/** Returns by execution the events of its EVENT conditions and its goal since its start, oldest first. */
export async function readExitEvents(
  database: Database,
  projectId: string,
  executions: readonly Execution[],
): Promise<Map<string, NamedEvent[]>> {
  const found = new Map<string, NamedEvent[]>();
  const sought = new Map<string, { wait: EventWait; execution: Execution }>();
  for (const execution of executions.filter(isUnchecked)) {
    const { contactId, startedAt: since, graph } = execution;
    if (contactId === null) continue;
    for (const eventName of namesOf(graph)) {
      const waitId = newId();
      sought.set(waitId, { execution, wait: { waitId, contactId, eventName, since } });
    }
  }
  for (let page = 0; sought.size > 0 && page < MOST_PAGES; page++) {
    const waits = [...sought.values()].map(({ wait }) => wait);
    const arrived = Map.groupBy(await listArrivedEvents(database, projectId, waits), ({ waitId }) => waitId);
    for (const [waitId, one] of sought) {
      const events = arrived.get(waitId) ?? [];
      add(one, events);
      const last = events.at(-1);
      if (last === undefined || events.length < EVENTS_OF_A_WAIT) sought.delete(waitId);
      else sought.set(waitId, { ...one, wait: { ...one.wait, behind: last.place } });
    }
  }
  return found;

  function add({ wait, execution }: { wait: EventWait; execution: Execution }, events: readonly Arrived[]) {
    const own = found.get(execution.id) ?? [];
    for (const { at, data } of events) own.push({ name: wait.eventName, at, data });
    found.set(execution.id, own);
  }
}

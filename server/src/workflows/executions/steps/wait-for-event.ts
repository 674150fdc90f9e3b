// WAIT_FOR_EVENT: waits until an event of the contact or a timeout. Only the stored events decide, in the order of their times.
// Notifications and timers merely cause another check.
import type { Filter } from "@postloft/contract/filters.ts";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import { evaluatorOf } from "../../../segments/filters/evaluate-filter.ts";
import type { StepRun } from "../execution.ts";
import { fillFilter, filterHasVariables } from "../fill-filter.ts";
import type { ArrivedEvent, Facts, TakeStep } from "./step.ts";

export const takeWaitForEvent: TakeStep<"WAIT_FOR_EVENT"> = ({
  step,
  execution,
  run,
  isFresh,
  now,
  facts,
  filler,
}) => {
  const { eventName, timeout } = step.config;
  const filter = filterOfWait(step.config, run);
  // Filled once, because a later change of the contact must not change which events count. A move to another filter empties it.
  const isUnfilled = filter !== undefined && run.out === undefined && filterHasVariables(filter);
  if (isUnfilled) run.out = { filter: fillFilter(filter, filler) };
  if (isFresh && timeout !== undefined) run.until = now.getTime() + timeout * 1_000;
  if (isFresh || isUnfilled) return { goes: "wait", dueAt: now, waitsFor: eventName };
  const { until = Infinity } = run;
  const arrived = (facts.events.get(execution.id) ?? []).find(
    (event) => event.at.getTime() < until && (filter === undefined || fits(filter, event, facts, now)),
  );
  const unread = facts.unread.get(execution.id);
  if (arrived === undefined && unread !== undefined) {
    if (unread.behind !== undefined) run.behind = unread.behind;
    return { goes: "wait", dueAt: unread.lookAt, waitsFor: eventName };
  }
  if (arrived === undefined && until > now.getTime())
    return { goes: "wait", dueAt: until === Infinity ? null : new Date(until), waitsFor: eventName };
  delete run.behind;
  if (arrived === undefined) return { goes: "on", branch: "timeout" };
  const { id: eventId, data, at, fromPublicKey } = arrived;
  if (fromPublicKey) execution.fromPublicKey = true;
  return { goes: "on", branch: "event", out: { eventId, at: at.toISOString() }, result: data };
};

/** Returns the filter of a wait, with the variables as they were when it began. */
export function filterOfWait(
  { filter }: StepConfig<"WAIT_FOR_EVENT">,
  { out }: Pick<StepRun, "out">,
): Filter | undefined {
  return (out?.["filter"] as Filter | undefined) ?? filter;
}

/** Returns whether an event's data matches a filter, by treating it as the data of a contact. */
export function fits(
  filter: Filter,
  { data, at }: Pick<ArrivedEvent, "data" | "at">,
  facts: Pick<Facts, "segments">,
  now: Date,
): boolean {
  const contact = {
    email: "",
    subscribed: true,
    data,
    createdAt: at,
    updatedAt: at,
    events: new Map<string, Date[]>(),
    segments: new Set<string>(),
  };
  return evaluatorOf(filter, { segments: facts.segments, now })(contact);
}

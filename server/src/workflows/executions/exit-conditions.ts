// Decides whether an exit condition ends an execution (docs/decisions/0135-exit-conditions-and-goals.md). Pure.
import type { Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { contactFilterOf, type ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { FillError, type Filler } from "../../rendering/fill-text.ts";
import {
  charactersToSearch,
  evaluatorOf,
  type FilterContact,
} from "../../segments/filters/evaluate-filter.ts";
import type { SegmentSources } from "../../segments/filters/load-segments.ts";
import type { Execution, NamedEvent } from "./execution.ts";
import { fillFilter, withoutVariables } from "./fill-filter.ts";
import { fits } from "./steps/wait-for-event.ts";

export interface ExitFacts extends SegmentSources {
  contact: FilterContact;
  events: readonly NamedEvent[];
  filler: Filler;
  now: Date;
}

/**
 * Returns why an execution ends, or null if no exit condition holds.
 * @throws FillError if the variables of a condition don't suit its operators, or if it would search too much data
 */
export function exitReasonOf(execution: Execution, facts: ExitFacts): string | null {
  const found = execution.graph.exitConditions.find((condition) => holds(condition, execution, facts));
  return found === undefined ? null : shorten(reasonOf(found, facts.segments));
}

function holds(condition: ExitCondition, execution: Execution, facts: ExitFacts): boolean {
  const { contact, segments, now, filler } = facts;
  if (condition.type === "EVENT") {
    // Filled in without an event, too, so that faulty variables show at the start.
    const filter = condition.filter === undefined ? undefined : fillFilter(condition.filter, filler);
    return facts.events.some(
      (event) =>
        event.name === condition.eventName &&
        isSince(execution, event) &&
        (filter === undefined || fits(filter, event, { segments }, now)),
    );
  }
  const filter = contactFilterOf(condition);
  if (filter === null) return false;
  if (charactersToSearch(filter, contact, { segments }) > LIMITS.conditionSearch.value)
    throw new FillError(recordedReason("exitConditionTooLarge"));
  return evaluatorOf(filter, { segments, now })(contact);
}

/** Returns whether an event counts for an execution. The one that started it does not. */
export function isSince(
  { startedAt, triggerEvent }: Pick<Execution, "startedAt" | "triggerEvent">,
  { name, at }: NamedEvent,
): boolean {
  return triggerEvent === name ? at > startedAt : at >= startedAt;
}

/** Returns the filters that decide about executions, for loading what these need. */
export function exitFiltersOf(conditions: readonly ExitCondition[]): Filter[] {
  return conditions.flatMap((one) =>
    one.type === "EVENT"
      ? one.filter === undefined
        ? []
        : [withoutVariables(one.filter)]
      : (contactFilterOf(one) ?? []),
  );
}

function reasonOf(condition: ExitCondition, segments: SegmentSources["segments"]): string {
  switch (condition.type) {
    case "EVENT":
      return recordedReason("exitEvent", { event: condition.eventName });
    case "SEGMENT":
      return recordedReason("exitSegment", {
        segment: segments.get(condition.segmentId)?.name ?? condition.segmentId,
      });
    case "FILTER":
      return recordedReason("exitFilter", { filter: shownFilter(condition.filter) });
  }
}

function shownFilter({ operator, conditions }: Filter): string {
  const parts = conditions.map((part) => {
    if ("conditions" in part) return `(${shownFilter(part)})`;
    const value = part.value === undefined ? [] : [JSON.stringify(part.value)];
    return [part.field, part.operator, ...value, ...(part.unit === undefined ? [] : [part.unit])].join(" ");
  });
  return parts.join(` ${operator} `);
}

function shorten(reason: string): string {
  const most = LIMITS.descriptionLength.value;
  return reason.length <= most ? reason : `${reason.slice(0, most - 1).toWellFormed()}…`;
}

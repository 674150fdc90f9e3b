// Plans a filter as conditions joined by AND, OR and NOT. Segment conditions are replaced by the filters of those segments.
import { formsOfAddressPart } from "@postloft/contract/address-part.ts";
import { parseAddress } from "@postloft/contract/address.ts";
import { readDate } from "@postloft/contract/filter-dates.ts";
import { NEGATIVE_OPERATORS, readField, type FilterOperator } from "@postloft/contract/filter-fields.ts";
import { isGroup, type Filter, type FilterCondition, type FilterScalar } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../../platform/app-error.ts";
import { DAY_MS, type InstantRange, type SegmentSources, type Span } from "./rules.ts";

export type TextTest =
  | { is: "oneOf"; texts: string[] }
  | { is: "containing" | "starting" | "ending"; text: string };

/** A comparison of a date with the current time. */
export type ClockTest =
  /** Within the span before now or later, or `older`. */
  | { is: "aged"; span: Span; older: boolean }
  /** From now to the end of the span. */
  | { is: "ahead"; span: Span }
  | { is: "today" }
  | { is: "anniversary"; daysAhead: number };

export type DataTest =
  | { is: "present" }
  /** Equal in type and value, without dates. */
  | { is: "oneOf"; values: FilterScalar[] }
  | { is: "number"; compare: ">" | "<" | ">=" | "<="; to: number }
  | { is: "date"; ranges: InstantRange[] }
  /** With `aged`, a date without a time of day matches nothing. */
  | ClockTest
  | { is: "containing"; value: FilterScalar }
  | { is: "starting" | "ending"; text: string };

export type Question =
  | { about: "email"; test: TextTest }
  | { about: "subscribed"; equals: boolean }
  | { about: "createdAt" | "updatedAt"; range: InstantRange }
  | { about: "createdAt" | "updatedAt"; clock: ClockTest }
  | { about: "data"; key: string; test: DataTest }
  | { about: "event"; event: string; atLeast: number; since: Span | null }
  | { about: "members"; segmentId: string };

export type Plan = { all: Plan[] } | { any: Plan[] } | { not: Plan } | { question: Question };

const NO_ONE: Plan = { any: [] };
/** Fields that every contact has. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(["email", "subscribed", "createdAt", "updatedAt"]);
const PRESENCE: Partial<Record<FilterOperator, Plan>> = { exists: { all: [] }, notExists: NO_ONE };

/** Returns every condition of a plan. */
export function questionsOf(plan: Plan): Question[] {
  if ("question" in plan) return [plan.question];
  if ("not" in plan) return questionsOf(plan.not);
  return ("all" in plan ? plan.all : plan.any).flatMap(questionsOf);
}

interface Planning extends SegmentSources {
  questions: number;
  /** Ids of the segments being planned, outermost first. */
  within: readonly string[];
}

/**
 * Plans a filter read by contract/filters.ts. A condition on a deleted segment, or one within a cycle, matches no contact with either
 * operator. Otherwise a deletion could send email to more people.
 * @throws AppError VALIDATION_ERROR if the expanded filter is larger than a statement may be.
 */
export function planFilter(filter: Filter, sources: SegmentSources): Plan {
  return planGroup(filter, { ...sources, questions: 0, within: [] });
}

/** Plans a single condition. */
export function planCondition(condition: FilterCondition, sources: SegmentSources): Plan {
  return planFilter({ operator: "AND", conditions: [condition] }, sources);
}

/** Plans the membership in a segment, static or dynamic. */
export function planMembership(segmentId: string, sources: SegmentSources): Plan {
  return planCondition({ field: `segment.${segmentId}`, operator: "memberOfSegment" }, sources);
}

function planGroup({ operator, conditions }: Filter, planning: Planning): Plan {
  const parts = conditions.map((part) =>
    isGroup(part) ? planGroup(part, planning) : planOne(part, planning),
  );
  return operator === "AND" ? { all: parts } : { any: parts };
}

function planOne(condition: FilterCondition, planning: Planning): Plan {
  if (++planning.questions > LIMITS.filterExpanded.value) throw tooLarge();
  const field = readField(condition.field);
  if (typeof field === "string") throw new Error(`A stored filter has an invalid field: ${condition.field}`);
  if (field.kind === "segment") return planSegment(field.segmentId, condition.operator, planning);
  if (ALWAYS_THERE.has(field.kind) && PRESENCE[condition.operator] !== undefined)
    return PRESENCE[condition.operator] ?? NO_ONE;
  if (condition.operator === "triggeredOlderThan" && field.kind === "event")
    return planLongAgo(field.event, condition);
  const asked = ask(field, condition);
  return NEGATIVE_OPERATORS.has(condition.operator) ? { not: asked } : asked;
}

function tooLarge() {
  return invalidField(
    "filters",
    "too_big",
    withValues(
      "Together with the segments it refers to, the filter has more than {most} conditions, or more than {depth} levels of segments.",
      { most: LIMITS.filterExpanded.value, depth: LIMITS.filterDepth.value },
    ),
  );
}

function planSegment(segmentId: string, operator: FilterOperator, planning: Planning): Plan {
  const source = planning.segments.get(segmentId);
  if (source === undefined || planning.within.includes(segmentId)) return NO_ONE;
  if (planning.within.length >= LIMITS.filterDepth.value) throw tooLarge();
  const asStored = source.filters === null || (planning.trackedAsStored === true && source.trackMembership);
  const members: Plan =
    source.filters === null || asStored
      ? { question: { about: "members", segmentId } }
      : planInner(source.filters, segmentId, planning);
  return NEGATIVE_OPERATORS.has(operator) ? { not: members } : members;
}

function planInner(filter: Filter, segmentId: string, planning: Planning): Plan {
  const inner = { ...planning, within: [...planning.within, segmentId] };
  const plan = planGroup(filter, inner);
  planning.questions = inner.questions;
  return plan;
}

/** Matches if the event happened, but not within the span. */
function planLongAgo(event: string, condition: FilterCondition): Plan {
  const ever = { about: "event", event, atLeast: 1 } as const;
  return {
    all: [
      { question: { ...ever, since: null } },
      { not: { question: { ...ever, since: spanOf(condition) } } },
    ],
  };
}

/** Plans a condition. For a negative operator, plans its positive counterpart. */
function ask(
  field: Exclude<ReturnType<typeof readField>, string | { kind: "segment" }>,
  condition: FilterCondition,
): Plan {
  const { operator, value } = condition;
  switch (field.kind) {
    case "data":
      return askData(field.key, condition);
    case "email":
      return askEmail(condition);
    case "subscribed":
      return { question: { about: "subscribed", equals: value === true } };
    case "event": {
      const since = condition.unit === undefined ? null : spanOf(condition);
      const atLeast = operator === "triggered" && typeof value === "number" ? value : 1;
      return { question: { about: "event", event: field.event, atLeast, since } };
    }
    default: {
      const about = field.kind;
      const clock = clockTestOf(condition);
      return {
        question:
          clock === null ? { about, range: rangeOf(operator, String(value), true) } : { about, clock },
      };
    }
  }
}

/** Returns the test of an operator that depends on the current time, or null for other operators. */
function clockTestOf(condition: FilterCondition): ClockTest | null {
  const { operator, value } = condition;
  switch (operator) {
    case "within":
    case "olderThan":
      return { is: "aged", span: spanOf(condition), older: operator === "olderThan" };
    case "inNext":
      return { is: "ahead", span: spanOf(condition) };
    case "isToday":
      return { is: "today" };
    case "anniversary":
      return { is: "anniversary", daysAhead: typeof value === "number" ? value : 0 };
    default:
      return null;
  }
}

function spanOf({ value, unit, window }: FilterCondition): Span {
  const amount = window ?? value;
  if (typeof amount !== "number" || unit === undefined) throw new Error("A stored condition has no unit.");
  return { amount, unit };
}

/** Returns the values of a condition as a list. */
function valuesOf({ value }: FilterCondition): FilterScalar[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

const PARTS: Partial<Record<FilterOperator, "containing" | "starting" | "ending">> = {
  contains: "containing",
  notContains: "containing",
  startsWith: "starting",
  endsWith: "ending",
};

/** Converts full addresses to canonical form, and parts of addresses to every form they can be stored in. */
function askEmail(condition: FilterCondition): Plan {
  const is = PARTS[condition.operator];
  const texts = valuesOf(condition).flatMap((value) => {
    const parsed = parseAddress(String(value));
    return parsed.ok ? parsed.address : formsOfAddressPart(String(value));
  });
  const tests: TextTest[] = is === undefined ? [{ is: "oneOf", texts }] : texts.map((text) => ({ is, text }));
  return { any: tests.map((test): Plan => ({ question: { about: "email", test } })) };
}

const COMPARISONS = {
  greaterThan: ">",
  lessThan: "<",
  greaterThanOrEqual: ">=",
  lessThanOrEqual: "<=",
} as const;

function askData(key: string, condition: FilterCondition): Plan {
  const asked = (test: DataTest): Plan => ({ question: { about: "data", key, test } });
  const { operator } = condition;
  const values = valuesOf(condition);
  const [value = ""] = values;
  const clock = clockTestOf(condition);
  if (clock !== null) return asked(clock);
  switch (operator) {
    case "exists":
    case "notExists":
      return asked({ is: "present" });
    case "contains":
    case "notContains":
      return asked({ is: "containing", value });
    case "startsWith":
      return asked({ is: "starting", text: String(value) });
    case "endsWith":
      return asked({ is: "ending", text: String(value) });
    case "onDay":
      return asked({ is: "date", ranges: [rangeOf(operator, String(value), true)] });
    case "greaterThan":
    case "lessThan":
    case "greaterThanOrEqual":
    case "lessThanOrEqual":
      return typeof value === "number"
        ? asked({ is: "number", compare: COMPARISONS[operator], to: value })
        : asked({ is: "date", ranges: [rangeOf(operator, String(value), false)] });
    default: {
      const ranges = values.filter(isDate).map((one) => rangeOf("equals", String(one), false));
      const others = values.filter((one) => !isDate(one));
      const tests: DataTest[] = [
        ...(others.length === 0 ? [] : [{ is: "oneOf", values: others } as const]),
        ...(ranges.length === 0 ? [] : [{ is: "date", ranges } as const]),
      ];
      return { any: tests.map(asked) };
    }
  }
}

const isDate = (value: FilterScalar) => typeof value === "string" && readDate(value) !== null;

/**
 * Returns the range of times that fulfills a comparison with a date. For fields with a time of day, equality with a plain date covers the
 * whole day (UTC).
 */
function rangeOf(operator: FilterOperator, text: string, dayIsWhole: boolean): InstantRange {
  const date = readDate(text);
  if (date === null) throw new Error(`A stored condition has an invalid date: ${text}`);
  const { atMs, hasTime } = date;
  switch (operator) {
    case "greaterThan":
      return { fromMs: atMs + 1, untilMs: null };
    case "greaterThanOrEqual":
      return { fromMs: atMs, untilMs: null };
    case "lessThan":
      return { fromMs: null, untilMs: atMs };
    case "lessThanOrEqual":
      return { fromMs: null, untilMs: atMs + 1 };
    default:
      return { fromMs: atMs, untilMs: atMs + (dayIsWhole && !hasTime ? DAY_MS : 1) };
  }
}

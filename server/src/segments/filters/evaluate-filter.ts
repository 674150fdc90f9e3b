// Evaluates filters for one contact in memory with the same results as compile-filter.ts. Used for explanations and to test the compiler.
import { readDate, type FilterDate } from "@postloft/contract/filter-dates.ts";
import { readField } from "@postloft/contract/filter-fields.ts";
import { isGroup, type Filter, type FilterCondition } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { SegmentSources } from "./load-segments.ts";
import {
  planCondition,
  planFilter,
  questionsOf,
  type ClockTest,
  type Plan,
  type Question,
  type TextTest,
} from "./plan-filter.ts";
import {
  DAY_MS,
  floorTo,
  foldText,
  hasAnniversary,
  instantAfter,
  instantBefore,
  isWithin,
  pathOf,
} from "./rules.ts";

/** The contact data that filters can read, loaded by `load-contacts.ts`. */
export interface FilterContact {
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
  createdAt: Date;
  updatedAt: Date;
  /** Times of the events of each name, newest first, at least up to the count in the filter. */
  events: ReadonlyMap<string, readonly Date[]>;
  /** Ids of the segments that store the contact as a member. */
  segments: ReadonlySet<string>;
}

export interface EvaluationOptions extends SegmentSources {
  now: Date;
}

/**
 * Returns a function that evaluates the filter for a contact.
 * @throws AppError VALIDATION_ERROR if the filter with its segments is too large.
 */
export function evaluatorOf(filter: Filter, options: EvaluationOptions): (contact: FilterContact) => boolean {
  const plan = planFilter(filter, options);
  const nowMs = options.now.getTime();
  return (contact) => holds(plan, checkAt(contact), nowMs);
}

/** A contact during the evaluation. Each text is case-folded once, for any number of conditions. */
interface Look extends FilterContact {
  folded: Map<string, string>;
}

function checkAt(contact: FilterContact): Look {
  return { ...contact, folded: new Map() };
}

export interface ConditionExplanation extends FilterCondition {
  matches: boolean;
  /** The compared value. For an event the number (of those read) and the last time, for a segment the membership, otherwise null. */
  seen: unknown;
}

export interface FilterExplanation {
  operator: "AND" | "OR";
  matches: boolean;
  conditions: Array<FilterExplanation | ConditionExplanation>;
}

/** Returns all conditions of an explained filter as a flat list. */
export function conditionsOf(part: FilterExplanation): ConditionExplanation[] {
  return part.conditions.flatMap((one) => ("conditions" in one ? conditionsOf(one) : [one]));
}

type DataQuestion = Extract<Question, { about: "data" }>;

/** Returns for every condition whether it matches and the compared value, in the shape of the filter. */
export function explainFilter(
  filter: Filter,
  contact: FilterContact,
  options: EvaluationOptions,
): FilterExplanation {
  return explainGroup(filter, checkAt(contact), options);
}

function explainGroup(filter: Filter, contact: Look, options: EvaluationOptions): FilterExplanation {
  const conditions = filter.conditions.map((part) =>
    isGroup(part) ? explainGroup(part, contact, options) : explainCondition(part, contact, options),
  );
  const matches =
    filter.operator === "AND"
      ? conditions.every((one) => one.matches)
      : conditions.some((one) => one.matches);
  return { operator: filter.operator, matches, conditions };
}

function explainCondition(
  condition: FilterCondition,
  contact: Look,
  options: EvaluationOptions,
): ConditionExplanation {
  const nowMs = options.now.getTime();
  return {
    ...condition,
    matches: holds(planCondition(condition, options), contact, nowMs),
    seen: shortened(seenBy(condition, contact, options)),
  };
}

/** Shortens a long value to the beginning of its text or JSON. */
function shortened(seen: unknown): unknown {
  const most = LIMITS.seenLength.value;
  const text = typeof seen === "string" ? seen : JSON.stringify(seen);
  return text.length <= most ? seen : `${text.slice(0, most).toWellFormed()}…`;
}

/**
 * Returns the number of characters and list elements that all conditions of a filter search, as a measure of its cost.
 * @throws AppError VALIDATION_ERROR if the filter with its segments is too large.
 */
export function charactersToSearch(filter: Filter, contact: FilterContact, sources: SegmentSources): number {
  return questionsOf(planFilter(filter, sources)).reduce((sum, question) => {
    const value = question.about === "data" ? valueAt(contact.data, question.key) : null;
    return sum + (typeof value === "string" || Array.isArray(value) ? value.length : 0);
  }, 0);
}

function seenBy(condition: FilterCondition, contact: Look, options: EvaluationOptions): unknown {
  const field = readField(condition.field);
  if (typeof field === "string") return null;
  switch (field.kind) {
    case "email":
    case "subscribed":
      return contact[field.kind];
    case "createdAt":
    case "updatedAt":
      return contact[field.kind].toISOString();
    case "data":
      return valueAt(contact.data, field.key) ?? null;
    case "event": {
      const times = contact.events.get(field.event) ?? [];
      const [last] = times;
      return { count: times.length, lastAt: last?.toISOString() ?? null };
    }
    case "segment": {
      const asked = { field: condition.field, operator: "memberOfSegment" } as const;
      return holds(planCondition(asked, options), contact, options.now.getTime());
    }
  }
}

function holds(plan: Plan, contact: Look, nowMs: number): boolean {
  if ("question" in plan) return respond(plan.question, contact, nowMs);
  if ("not" in plan) return !holds(plan.not, contact, nowMs);
  return "all" in plan
    ? plan.all.every((part) => holds(part, contact, nowMs))
    : plan.any.some((part) => holds(part, contact, nowMs));
}

function respond(question: Question, contact: Look, nowMs: number): boolean {
  switch (question.about) {
    case "email":
      return evaluateText(question.test, contact.email);
    case "subscribed":
      return contact.subscribed === question.equals;
    case "createdAt":
    case "updatedAt": {
      const atMs = contact[question.about].getTime();
      return "range" in question
        ? isWithin(atMs, question.range)
        : evaluateClock(question.clock, { atMs, hasTime: true }, nowMs);
    }
    case "data":
      return evaluateData(question, contact, nowMs);
    case "event": {
      const sinceMs = question.since === null ? -Infinity : instantBefore(nowMs, question.since);
      const times = contact.events.get(question.event) ?? [];
      return times.filter((time) => time.getTime() >= sinceMs).length >= question.atLeast;
    }
    case "members":
      return contact.segments.has(question.segmentId);
  }
}

/** Returns the value of the key with exactly this name, or of the path. Undefined if a part is missing or null. */
function valueAt(data: Readonly<Record<string, unknown>>, key: string): unknown {
  const whole = ownValue(data, key);
  if (whole !== undefined) return whole ?? undefined;
  return pathOf(key).reduce<unknown>(ownValue, data) ?? undefined;
}

function ownValue(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function evaluateText(test: TextTest, text: string): boolean {
  switch (test.is) {
    case "oneOf":
      return test.texts.includes(text);
    case "containing":
      return text.includes(test.text);
    case "starting":
      return text.startsWith(test.text);
    case "ending":
      return text.endsWith(test.text);
  }
}

function evaluateData({ key, test }: DataQuestion, contact: Look, nowMs: number): boolean {
  const value = valueAt(contact.data, key);
  switch (test.is) {
    case "present":
      return value !== undefined;
    case "oneOf":
      return test.values.some((one) => one === value);
    case "number":
      return typeof value === "number" && compareNumbers(value, test.compare, test.to);
    case "date": {
      const date = typeof value === "string" ? readDate(value) : null;
      return date !== null && test.ranges.some((range) => isWithin(date.atMs, range));
    }
    case "aged":
    case "ahead":
    case "today":
    case "anniversary": {
      const date = typeof value === "string" ? readDate(value) : null;
      if (date === null || (test.is === "aged" && !date.hasTime)) return false;
      // The bounds are rounded down to the second as in SQL, where the number of fractional digits varies.
      return evaluateClock(test, date, nowMs, 1000);
    }
    case "containing":
      if (Array.isArray(value)) return value.includes(test.value);
      return typeof value === "string" && typeof test.value === "string"
        ? evaluateText({ is: "containing", text: foldText(test.value) }, foldedOnce(contact, key, value))
        : false;
    case "starting":
    case "ending":
      return (
        typeof value === "string" &&
        evaluateText({ is: test.is, text: foldText(test.text) }, foldedOnce(contact, key, value))
      );
  }
}

function evaluateClock(test: ClockTest, { atMs, hasTime }: FilterDate, nowMs: number, stepMs = 1): boolean {
  switch (test.is) {
    case "aged":
      return test.older === atMs < floorTo(instantBefore(nowMs, test.span), stepMs);
    case "ahead": {
      const untilMs = floorTo(instantAfter(nowMs, test.span), stepMs);
      // A day without a time counts until it ends, and from its start.
      return hasTime
        ? atMs >= floorTo(nowMs, stepMs) && atMs < untilMs
        : atMs >= floorTo(nowMs, DAY_MS) && atMs <= untilMs;
    }
    case "today":
      return floorTo(atMs, DAY_MS) === floorTo(nowMs, DAY_MS);
    case "anniversary":
      return hasAnniversary(atMs, nowMs, test.daysAhead);
  }
}

function compareNumbers(one: number, compare: ">" | "<" | ">=" | "<=", other: number): boolean {
  switch (compare) {
    case ">":
      return one > other;
    case "<":
      return one < other;
    case ">=":
      return one >= other;
    case "<=":
      return one <= other;
  }
}

function foldedOnce({ folded }: Look, key: string, value: string): string {
  const text = folded.get(key) ?? foldText(value);
  folded.set(key, text);
  return text;
}

// The same meaning as compile-filter.ts, for one contact in memory, with what was seen: explanations, and tests of the compiler.
import { readDate } from "@postloft/contract/filter-dates.ts";
import { readField } from "@postloft/contract/filter-fields.ts";
import { isGroup, type Filter, type FilterCondition } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { SegmentSources } from "./load-segments.ts";
import {
  planCondition,
  planFilter,
  questionsOf,
  type Plan,
  type Question,
  type TextTest,
} from "./plan-filter.ts";
import { foldText, instantBefore, isWithin, pathOf } from "./rules.ts";

/** A contact as far as filters look at it. `load-contacts.ts` makes it. */
export interface FilterContact {
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
  createdAt: Date;
  updatedAt: Date;
  /** When events of each name happened, newest first; as many as the filter counts to are enough. */
  events: ReadonlyMap<string, readonly Date[]>;
  /** Ids of the segments whose stored members include it. */
  segments: ReadonlySet<string>;
}

export interface EvaluationOptions extends SegmentSources {
  now: Date;
}

/**
 * Makes a function that says of contacts whether they match.
 * @throws Refusal VALIDATION_ERROR when the filter with the segments it stands on is too large.
 */
export function evaluatorOf(filter: Filter, options: EvaluationOptions): (contact: FilterContact) => boolean {
  const plan = planFilter(filter, options);
  const nowMs = options.now.getTime();
  return (contact) => holds(plan, lookAt(contact), nowMs);
}

/** A contact while it is looked at: however many conditions look into a text without regard to case, it is folded once. */
interface Look extends FilterContact {
  folded: Map<string, string>;
}

function lookAt(contact: FilterContact): Look {
  return { ...contact, folded: new Map() };
}

export interface ConditionExplanation extends FilterCondition {
  matches: boolean;
  /** The value compared; of an event how often (of those read) and when last, of a segment whether it is a member; null for nothing. */
  seen: unknown;
}

export interface FilterExplanation {
  operator: "AND" | "OR";
  matches: boolean;
  conditions: Array<FilterExplanation | ConditionExplanation>;
}

/** All conditions of an explained filter in a row. */
export function conditionsOf(part: FilterExplanation): ConditionExplanation[] {
  return part.conditions.flatMap((one) => ("conditions" in one ? conditionsOf(one) : [one]));
}

type DataQuestion = Extract<Question, { about: "data" }>;

/** Says of every condition whether the contact fulfils it and what was seen, in the shape of the filter. */
export function explainFilter(
  filter: Filter,
  contact: FilterContact,
  options: EvaluationOptions,
): FilterExplanation {
  return explainGroup(filter, lookAt(contact), options);
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

/** What is too long to be shown, as the beginning of its JSON or its text. */
function shortened(seen: unknown): unknown {
  const most = LIMITS.seenLength.value;
  const text = typeof seen === "string" ? seen : JSON.stringify(seen);
  return text.length <= most ? seen : `${text.slice(0, most).toWellFormed()}…`;
}

/**
 * How many characters of texts and elements of lists a filter looks through, all its conditions together: what it costs.
 * @throws Refusal VALIDATION_ERROR when the filter with the segments it stands on is too large.
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
  if ("question" in plan) return answer(plan.question, contact, nowMs);
  if ("not" in plan) return !holds(plan.not, contact, nowMs);
  return "all" in plan
    ? plan.all.every((part) => holds(part, contact, nowMs))
    : plan.any.some((part) => holds(part, contact, nowMs));
}

function answer(question: Question, contact: Look, nowMs: number): boolean {
  switch (question.about) {
    case "email":
      return answerText(question.test, contact.email);
    case "subscribed":
      return contact.subscribed === question.equals;
    case "createdAt":
    case "updatedAt": {
      const atMs = contact[question.about].getTime();
      if ("range" in question) return isWithin(atMs, question.range);
      return question.older === atMs < instantBefore(nowMs, question.span);
    }
    case "data":
      return answerData(question, contact, nowMs);
    case "event": {
      const sinceMs = question.since === null ? -Infinity : instantBefore(nowMs, question.since);
      const times = contact.events.get(question.event) ?? [];
      return times.filter((time) => time.getTime() >= sinceMs).length >= question.atLeast;
    }
    case "members":
      return contact.segments.has(question.segmentId);
  }
}

/** The key with these very letters if there is one, else the path; undefined where something is missing or null. */
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

function answerText(test: TextTest, text: string): boolean {
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

function answerData({ key, test }: DataQuestion, contact: Look, nowMs: number): boolean {
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
    case "aged": {
      const date = typeof value === "string" ? readDate(value) : null;
      if (date === null || !date.hasTime) return false;
      // To the second, as in SQL, where the digits after it are of no fixed number.
      const beforeMs = Math.floor(instantBefore(nowMs, test.span) / 1000) * 1000;
      return test.older === date.atMs < beforeMs;
    }
    case "containing":
      if (Array.isArray(value)) return value.includes(test.value);
      return typeof value === "string" && typeof test.value === "string"
        ? answerText({ is: "containing", text: foldText(test.value) }, foldedOnce(contact, key, value))
        : false;
    case "starting":
    case "ending":
      return (
        typeof value === "string" &&
        answerText({ is: test.is, text: foldText(test.text) }, foldedOnce(contact, key, value))
      );
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

// Compiles a filter to a SQL condition on contacts `c` of one project, for segments and campaigns.
import type { Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../../platform/database/database.ts";
import { listEventsBeingDeleted } from "../../events/event-names.ts";
import { listKeysBeingDeleted } from "../../contacts/contacts.ts";
import { joined, type ConditionContext, type Fragment, type Way } from "./asking-queries.ts";
import { negated, questionFragment } from "./condition-queries.ts";
import type { SegmentSources } from "./load-segments.ts";
import { planFilter, planMembership, questionsOf, type Plan, type Question } from "./plan-filter.ts";
import { countFewEvents } from "./queries.ts";
import type { EventQuestion } from "./related-queries.ts";

export interface RestrictionOptions extends SegmentSources {
  projectId: string;
  /** The current time of the filter. Defaults to PostgreSQL's clock. */
  now?: Date;
  /** Set for statements over named contacts, so that events are counted only for them. */
  fewContacts?: boolean;
}

/**
 * Returns the filter as a condition on the alias `c` of `contacts`. The condition is true or false, never null, and never fails, for any
 * contact data. The statement must also restrict `c.project_id`.
 * @throws AppError VALIDATION_ERROR if the filter with its segments is too large.
 */
export async function restrictionOf(
  database: Database,
  filter: Filter,
  options: RestrictionOptions,
): Promise<Fragment> {
  return compileFor(database, planFilter(filter, options), options);
}

/** Returns the members of a segment, static or dynamic, in the same form. */
export async function membershipOf(
  database: Database,
  segmentId: string,
  options: RestrictionOptions,
): Promise<Fragment> {
  return compileFor(database, planMembership(segmentId, options), options);
}

async function compileFor(database: Database, plan: Plan, options: RestrictionOptions): Promise<Fragment> {
  const asking = await contextOf(database, plan, options);
  return compile(plan, { ...asking, ways: asking.fewContacts ? asking.ways : lookUpsOf(plan) }, true);
}

/**
 * Returns the condition for a statement over all contacts of a project. PostgreSQL can only look up event conditions under OR or NOT
 * contact by contact, in one process. If the events are few, a table in memory takes half the time, so they are counted first. Of the
 * conditions under AND, PostgreSQL may join only one. Otherwise it could join two to each other row by row, if it has no statistics about
 * them yet.
 */
export async function restrictionForAll(
  database: Database,
  filter: Filter,
  options: RestrictionOptions,
): Promise<Fragment> {
  return compileForAll(database, planFilter(filter, options), options);
}

/** Returns the members of a segment, static or dynamic, for a statement over all contacts. */
export async function membershipForAll(
  database: Database,
  segmentId: string,
  options: RestrictionOptions,
): Promise<Fragment> {
  return compileForAll(database, planMembership(segmentId, options), options);
}

/** Each process of a statement builds its own tables of up to 10 MB each. */
const MAX_TABLES_IN_MEMORY = 4;

async function compileForAll(database: Database, plan: Plan, options: RestrictionOptions): Promise<Fragment> {
  const asking = await contextOf(database, plan, options);
  return compile(plan, { ...asking, ways: await waysOf(database, plan, asking) }, true);
}

async function waysOf(database: Database, plan: Plan, asking: ConditionContext): Promise<Map<Question, Way>> {
  const ways = lookUpsOf(plan);
  const firm = requiredQuestions(plan);
  const loose = questionsOf(plan).filter((question) => !firm.includes(question));
  const firmEvents = firm.filter(isAboutEvent);
  const apart = firmEvents.length > 1 ? firmEvents : [];
  const asked = [...apart, ...loose.filter(isAboutEvent)];
  if (asked.length > MAX_TABLES_IN_MEMORY) return ways;
  const counts = new Map<EventQuestion, number>();
  for (const question of asked) {
    const count = await countFewEvents(database, question, asking);
    if (count !== null) counts.set(question, count);
  }
  const [rarest] = apart
    .filter((question) => counts.has(question))
    .toSorted((one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0));
  for (const question of apart) {
    if (rarest === undefined) ways.delete(question);
    else ways.set(question, "lookup");
  }
  for (const question of counts.keys()) ways.set(question, "table");
  if (rarest !== undefined) ways.delete(rarest);
  return ways;
}

/** Leaves at most one condition for PostgreSQL to join, which is the first event that all matches have, or the first segment. */
function lookUpsOf(plan: Plan): Map<Question, Way> {
  const firm = requiredQuestions(plan);
  const members = firm.filter(({ about }) => about === "members");
  const [, ...others] = [...firm.filter(isAboutEvent), ...members];
  return new Map(others.map((question) => [question, "lookup"]));
}

const isAboutEvent = (question: Question): question is EventQuestion => question.about === "event";

/** Returns the conditions that are true for every match. */
function requiredQuestions(plan: Plan): Question[] {
  if ("question" in plan) return [plan.question];
  return "all" in plan ? plan.all.flatMap(requiredQuestions) : [];
}

async function contextOf(
  database: Database,
  plan: Plan,
  { projectId, now, fewContacts }: RestrictionOptions,
): Promise<ConditionContext> {
  const readsEvents = questionsOf(plan).some((question) => question.about === "event");
  const readsData = questionsOf(plan).some((question) => question.about === "data");
  return {
    projectId,
    now: now ?? null,
    fewContacts: fewContacts ?? false,
    keysBeingDeleted: new Set(readsData ? await listKeysBeingDeleted(database, projectId) : []),
    eventsBeingDeleted: readsEvents
      ? await listEventsBeingDeleted(database, projectId)
      : new Map<string, string>(),
    ways: new Map(),
  };
}

function compile(plan: Plan, asking: ConditionContext, isConjunct: boolean): Fragment {
  if ("question" in plan) return questionFragment(plan.question, asking, isConjunct);
  if ("not" in plan) return negated(compile(plan.not, asking, false));
  return "all" in plan
    ? joined(
        plan.all.map((part) => compile(part, asking, isConjunct)),
        "and",
      )
    : joined(
        plan.any.map((part) => compile(part, asking, false)),
        "or",
      );
}

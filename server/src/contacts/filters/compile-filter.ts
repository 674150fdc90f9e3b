// A filter as a restriction on contacts `c` of one project: what segments and campaigns put after `where`.
// Before it: plan-filter.ts. After it: whoever selects from `contacts c`; evaluate-filter.ts means the same in memory.
import type { Filter } from "@postloft/contract/filters.ts";
import { joined, negated, questionFragment, type Asking, type Fragment } from "./condition-queries.ts";
import type { SegmentSources } from "./load-segments.ts";
import { planFilter, planMembership, type Plan } from "./plan-filter.ts";

export interface RestrictionOptions extends SegmentSources {
  projectId: string;
  /** What "now" is; PostgreSQL's clock when left out. */
  now?: Date;
  /** Set it when the statement names its contacts: events are then counted for these alone. */
  fewContacts?: boolean;
}

/**
 * The contacts that match, as a condition on the alias `c` of `contacts`: true or false, never null, in a statement that
 * also restricts `c.project_id`. It cannot raise, whatever contacts hold.
 * @throws Refusal VALIDATION_ERROR when the filter with the segments it stands on is too large.
 */
export function restrictionOf(filter: Filter, options: RestrictionOptions): Fragment {
  return compile(planFilter(filter, options), askingOf(options));
}

/** The members of a segment, of either kind, as such a condition. */
export function membershipOf(segmentId: string, options: RestrictionOptions): Fragment {
  return compile(planMembership(segmentId, options), askingOf(options));
}

function askingOf({ projectId, now, fewContacts }: RestrictionOptions): Asking {
  return { projectId, now: now ?? null, fewContacts: fewContacts ?? false };
}

function compile(plan: Plan, asking: Asking): Fragment {
  if ("question" in plan) return questionFragment(plan.question, asking);
  if ("not" in plan) return negated(compile(plan.not, asking));
  return "all" in plan
    ? joined(
        plan.all.map((part) => compile(part, asking)),
        "and",
      )
    : joined(
        plan.any.map((part) => compile(part, asking)),
        "or",
      );
}

// The filter language of segments, campaigns and workflows (decisions §4): its form, its schema and its dependencies.
import { z } from "zod";
import { issue, jsonSchemas } from "./field.ts";
import {
  FILTER_OPERATORS,
  FILTER_UNITS,
  isTimeBased,
  NEGATIVE_OPERATORS,
  readField,
} from "./filter-fields.ts";
import type { Filter, FilterCondition } from "./filter-form.ts";
import { LIMITS } from "./limits/limits.ts";
import { readFilter } from "./read-filter.ts";
import { readAs, type Reads } from "./unknown-fields.ts";

export type { Filter, FilterCondition, FilterScalar } from "./filter-form.ts";

/** The second form of a filter. `logic` joins the groups; within a group, all filters and the nested condition must match. */
export interface GroupedFilter {
  logic: "AND" | "OR";
  groups: Array<{ filters: FilterCondition[]; conditions?: GroupedFilter }>;
}

export function isGroup(part: Filter | FilterCondition): part is Filter {
  return "conditions" in part;
}

const OPERATORS = [...new Set(Object.values(FILTER_OPERATORS).flatMap((forms) => Object.keys(forms)))];

const scalarJsonSchemas = [{ type: "string" }, { type: "number" }, { type: "boolean" }];

const conditionJsonSchema = {
  type: "object",
  properties: {
    field: {
      type: "string",
      description:
        "`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<activity>` or `segment.<id>`.",
      examples: ["data.plan"],
    },
    operator: {
      type: "string",
      enum: OPERATORS,
      description: "See docs/filters.md.",
      examples: ["equals"],
    },
    value: {
      description:
        "The value to compare with. A list for `in` and `notIn`, a number of units for `within`, `inNext` and `olderThan`, a day (`2027-01-31`) for `onDay`, and a number of days or nothing for `anniversary`.",
      anyOf: [...scalarJsonSchemas, { type: "array", items: { anyOf: scalarJsonSchemas } }],
      examples: ["pro"],
    },
    unit: {
      type: "string",
      enum: [...FILTER_UNITS],
      description:
        "Unit of `value` in `within`, `inNext`, `olderThan` and similar operators, and of `window`.",
    },
    window: {
      type: "integer",
      description: "For `triggered`: the number of units in which the event is counted.",
    },
  },
  required: ["field", "operator"],
};

const filterJsonSchema = {
  type: "object",
  description:
    "Conditions joined by AND or OR; a condition can be a nested group in the same form. `{ logic, groups: [{ filters, conditions? }] }` is also accepted.",
  properties: {
    operator: { type: "string", enum: ["AND", "OR"] },
    conditions: {
      type: "array",
      minItems: 1,
      items: {
        anyOf: [
          conditionJsonSchema,
          {
            type: "object",
            description: "A nested group.",
            properties: {
              operator: { type: "string", enum: ["AND", "OR"] },
              conditions: { type: "array", items: { type: "object" } },
            },
            required: ["operator", "conditions"],
          },
        ],
      },
    },
  },
  required: ["operator", "conditions"],
};

/** The field names in both forms of a filter; read-filter.ts reads the values. */
const conditionNames = z.object({
  field: z.unknown(),
  operator: z.unknown(),
  value: z.unknown(),
  unit: z.unknown(),
  window: z.unknown(),
});
const groupNames: z.ZodType = z.lazy(() =>
  z.union([
    z.object({ operator: z.unknown(), conditions: z.array(z.union([conditionNames, groupNames])) }),
    z.object({
      logic: z.unknown(),
      groups: z.array(
        z.object({ filters: z.array(z.union([conditionNames, groupNames])), conditions: groupNames }),
      ),
    }),
  ]),
);
/** For `readAs`: a filter, and a filter or one condition. */
export const filterNames: Reads = { as: () => groupNames };
export const filterOrConditionNames: Reads = { as: () => z.union([conditionNames, groupNames]) };

function filterSchema(acceptsCondition: boolean, acceptsVariables = false) {
  return z.unknown().transform((input, context): Filter => {
    const push = (problem: ReturnType<typeof issue>) => context.issues.push(problem);
    return readFilter(input, push, acceptsCondition, acceptsVariables) ?? z.NEVER;
  });
}

/** A filter in either form, returned in the canonical form. Issues contain the exact path: `filters.conditions.2.value`. */
export const filter = readAs(
  filterSchema(false).register(jsonSchemas, { jsonSchema: filterJsonSchema }),
  filterNames,
);

/** A filter that can compare with texts with variables, for the steps of workflows. */
export const filterWithVariables = readAs(
  filterSchema(false, true).register(jsonSchemas, { jsonSchema: filterJsonSchema }),
  filterNames,
);

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A filter as JSON text for URLs. Faults inside it have the same paths as in a body. */
export const filterText = z
  .string()
  .max(LIMITS.filterTextInAddress.value)
  .transform((text, context): Filter => {
    const push = (problem: ReturnType<typeof issue>) => context.issues.push(problem);
    const input = parsedJson(text);
    if (input === undefined) push(issue("Must be a filter as JSON.", "invalid_string", text));
    return (input === undefined ? null : readFilter(input, push, false)) ?? z.NEVER;
  })
  .register(jsonSchemas, {
    jsonSchema: {
      type: "string",
      maxLength: LIMITS.filterTextInAddress.value,
      description: "Only contacts that match this filter, as JSON text: `{ operator, conditions }`.",
    },
  });

/** A filter or a single condition, which becomes a filter with one condition (the step CONDITION of a workflow). */
export const filterOrCondition = readAs(
  filterSchema(true).register(jsonSchemas, {
    jsonSchema: { anyOf: [conditionJsonSchema, filterJsonSchema] },
  }),
  filterOrConditionNames,
);

/** Returns a filter in the second form. Reading the result returns the same filter, without groups that contain only a group. */
export function groupedFilter({ operator, conditions }: Filter): GroupedFilter {
  const plain = plainConditions(conditions);
  if (operator === "AND" && plain !== null && plain.length > 1)
    return { logic: "AND", groups: [{ filters: plain }] };
  return {
    logic: operator,
    groups: conditions.map((part) => {
      if (!isGroup(part)) return { filters: [part] };
      const inner = part.operator === "AND" ? plainConditions(part.conditions) : null;
      return inner !== null && inner.length > 1
        ? { filters: inner }
        : { filters: [], conditions: groupedFilter(part) };
    }),
  };
}

function plainConditions(parts: Filter["conditions"]): FilterCondition[] | null {
  const plain = parts.filter((part): part is FilterCondition => !isGroup(part));
  return plain.length === parts.length ? plain : null;
}

/** Returns every condition in order, including those of nested groups. */
export function conditionsOf({ conditions }: Filter): FilterCondition[] {
  return conditions.flatMap((part) => (isGroup(part) ? conditionsOf(part) : [part]));
}

export interface FilterCauses {
  /** Whether a new or changed contact can start or stop matching. */
  contact: boolean;
  /** Names of events that can change the result. */
  events: string[];
  /** Names of email events that can change the result, such as email.open. */
  emails: string[];
  /** Ids of segments in the filter; their own causes are not included. */
  segments: string[];
  /** Whether time alone can change the result. */
  timeBased: boolean;
}

/** Returns the causes that can change whether a contact matches. A contact without any of these changes need not be checked again. */
export function causesOf(given: Filter): FilterCauses {
  const [events, emails, segments] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let contact = false;
  let timeBased = false;
  for (const condition of conditionsOf(given)) {
    const { field, operator } = condition;
    const read = readField(field);
    if (typeof read === "string") continue;
    if (read.kind === "event") (read.isMail ? emails : events).add(read.event);
    else if (read.kind === "segment") segments.add(read.segmentId);
    else contact = true;
    // A new contact has no events and no segments, so it matches these from the start.
    if (NEGATIVE_OPERATORS.has(operator)) contact = true;
    if (isTimeBased(condition)) timeBased = true;
  }
  return {
    contact,
    events: [...events],
    emails: [...emails],
    segments: [...segments],
    timeBased,
  };
}

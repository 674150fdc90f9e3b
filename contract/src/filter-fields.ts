// Fields of filter conditions, the operators of each kind, and their values.
import {
  EMAIL_BOUNCE,
  EMAIL_CLICK,
  EMAIL_COMPLAINT,
  EMAIL_DELIVERY,
  EMAIL_OPEN,
  EMAIL_SENT,
} from "./event-names.ts";
import { LIMITS } from "./limits/limits.ts";

export const FILTER_UNITS = ["minutes", "hours", "days", "weeks", "months"] as const;
export type FilterUnit = (typeof FILTER_UNITS)[number];

/**
 * The `value` of an operator. `span` is a whole number with a unit; `order` is a number or a date. `count` is optional, and counts within
 * `window` units if both are given. `day` is a date without a time, and `daysAhead` is an optional number of days.
 */
export type ValueForm =
  | "none"
  | "text"
  | "texts"
  | "boolean"
  | "date"
  | "scalar"
  | "scalars"
  | "order"
  | "span"
  | "count"
  | "day"
  | "daysAhead";

/** Operators of every field. They ask whether a value exists, whether an event ever happened, or whether the contact is in a segment. */
const PRESENCE_OPERATORS = { exists: "none", notExists: "none" } as const satisfies Record<string, ValueForm>;

/** Operators that compare the day of a date (UTC) with a day, with today, or with the day and month of today. */
const DAY_OPERATORS = {
  onDay: "day",
  isToday: "none",
  anniversary: "daysAhead",
} as const satisfies Record<string, ValueForm>;

const INSTANT_OPERATORS = {
  equals: "date",
  notEquals: "date",
  greaterThan: "date",
  lessThan: "date",
  greaterThanOrEqual: "date",
  lessThanOrEqual: "date",
  within: "span",
  olderThan: "span",
  ...DAY_OPERATORS,
  ...PRESENCE_OPERATORS,
} as const satisfies Record<string, ValueForm>;

/** The operators of each kind of field, with the form of their value. */
export const FILTER_OPERATORS = {
  email: {
    equals: "text",
    notEquals: "text",
    contains: "text",
    notContains: "text",
    startsWith: "text",
    endsWith: "text",
    in: "texts",
    notIn: "texts",
    ...PRESENCE_OPERATORS,
  },
  subscribed: { equals: "boolean", notEquals: "boolean", ...PRESENCE_OPERATORS },
  createdAt: INSTANT_OPERATORS,
  updatedAt: INSTANT_OPERATORS,
  data: {
    equals: "scalar",
    notEquals: "scalar",
    contains: "scalar",
    notContains: "scalar",
    startsWith: "text",
    endsWith: "text",
    in: "scalars",
    notIn: "scalars",
    greaterThan: "order",
    lessThan: "order",
    greaterThanOrEqual: "order",
    lessThanOrEqual: "order",
    ...PRESENCE_OPERATORS,
    within: "span",
    olderThan: "span",
    inNext: "span",
    ...DAY_OPERATORS,
  },
  event: {
    triggered: "count",
    notTriggered: "none",
    triggeredWithin: "span",
    triggeredOlderThan: "span",
    notTriggeredWithin: "span",
    ...PRESENCE_OPERATORS,
  },
  segment: { memberOfSegment: "none", notMemberOfSegment: "none", ...PRESENCE_OPERATORS },
} as const satisfies Record<string, Record<string, ValueForm>>;

export type FieldKind = keyof typeof FILTER_OPERATORS;
type OperatorOf<Kind> = Kind extends FieldKind ? keyof (typeof FILTER_OPERATORS)[Kind] : never;
export type FilterOperator = OperatorOf<FieldKind>;

/** Operators of `data.*` that make sense for a field of this inferred type (spec §2.3). All are accepted for each type. */
export const DATA_OPERATORS_BY_TYPE = {
  string: [
    "equals",
    "notEquals",
    "contains",
    "notContains",
    "startsWith",
    "endsWith",
    "in",
    "notIn",
    "exists",
    "notExists",
  ],
  number: [
    "equals",
    "notEquals",
    "greaterThan",
    "lessThan",
    "greaterThanOrEqual",
    "lessThanOrEqual",
    "in",
    "notIn",
    "exists",
    "notExists",
  ],
  boolean: ["equals", "notEquals", "exists", "notExists"],
  date: [
    "within",
    "olderThan",
    "inNext",
    "onDay",
    "isToday",
    "anniversary",
    "equals",
    "notEquals",
    "greaterThan",
    "lessThan",
    "greaterThanOrEqual",
    "lessThanOrEqual",
    "exists",
    "notExists",
  ],
} as const satisfies Record<string, ReadonlyArray<OperatorOf<"data">>>;

/** The events behind `email.<activity>`, by the short names of the events. */
const MAIL_EVENTS: ReadonlyMap<string, { activity: string; event: string }> = new Map(
  (
    [
      ["sent", EMAIL_SENT],
      ["delivered", EMAIL_DELIVERY],
      ["opened", EMAIL_OPEN],
      ["clicked", EMAIL_CLICK],
      ["bounced", EMAIL_BOUNCE],
      ["complained", EMAIL_COMPLAINT],
    ] as const
  ).flatMap(([activity, event]) => [
    [activity, { activity, event }],
    [event.slice("email.".length), { activity, event }],
  ]),
);

/** Allowed names after `email.`. */
export const MAIL_ACTIVITIES: readonly string[] = [
  ...new Set([...MAIL_EVENTS.values()].map(({ activity }) => activity)),
];

export type FilterField =
  | { kind: "email" | "subscribed" | "createdAt" | "updatedAt" }
  /** The key after `data.`. It may be a key with dots or a path (see `dataPathOf`). */
  | { kind: "data"; key: string }
  | { kind: "event"; event: string; isMail: boolean }
  | { kind: "segment"; segmentId: string };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Parses the field of a condition. Returns a sentence with the reason if it is not a field. */
export function readField(text: string): FilterField | string {
  if (text === "email" || text === "subscribed" || text === "createdAt" || text === "updatedAt")
    return { kind: text };
  const dot = text.indexOf(".");
  const rest = dot === -1 ? "" : text.slice(dot + 1);
  switch (dot === -1 ? "" : text.slice(0, dot)) {
    case "data": {
      if (rest === "") return "Add a key of the data: data.<key>.";
      const keys = rest.split(".").length;
      return keys > LIMITS.filterPathKeys.value
        ? `A path may have at most ${LIMITS.filterPathKeys.value} keys.`
        : { kind: "data", key: rest };
    }
    case "event": {
      const event = rest.trim();
      return event === ""
        ? "Add the name of an event: event.<name>."
        : { kind: "event", event, isMail: false };
    }
    case "email": {
      const mail = MAIL_EVENTS.get(rest);
      if (mail !== undefined) return { kind: "event", event: mail.event, isMail: true };
      return `Of mails there is ${MAIL_ACTIVITIES.map((activity) => `email.${activity}`).join(", ")}.`;
    }
    case "segment": {
      const segmentId = rest.toLowerCase();
      return UUID.test(segmentId) ? { kind: "segment", segmentId } : "Add the id of a segment: segment.<id>.";
    }
    default:
      return "Unknown field. Fields are email, subscribed, createdAt, updatedAt, data.<key>, event.<name>, email.<activity>, segment.<id>.";
  }
}

/** Returns the canonical spelling of a field; `text` must be valid for `readField`. */
export function canonicalField(text: string): string {
  if (text.startsWith("event.")) return `event.${text.slice("event.".length).trim()}`;
  if (text.startsWith("segment.")) return text.toLowerCase();
  const mail = text.startsWith("email.") ? MAIL_EVENTS.get(text.slice("email.".length)) : undefined;
  return mail === undefined ? text : `email.${mail.activity}`;
}

/** Negative operators. They also match a contact without the key, the event or the membership. */
export const NEGATIVE_OPERATORS: ReadonlySet<FilterOperator> = new Set<FilterOperator>([
  "notEquals",
  "notContains",
  "notIn",
  "notExists",
  "notTriggered",
  "notTriggeredWithin",
  "notMemberOfSegment",
]);

/** Operators without a unit whose result still changes as time passes. */
const CLOCK_OPERATORS: ReadonlySet<FilterOperator> = new Set<FilterOperator>(["isToday", "anniversary"]);

/** Returns whether time alone can change the result of a condition. */
export function isTimeBased({ operator, unit }: { operator: FilterOperator; unit?: FilterUnit }): boolean {
  return unit !== undefined || CLOCK_OPERATORS.has(operator);
}

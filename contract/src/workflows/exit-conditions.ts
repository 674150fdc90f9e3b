// The conditions under which contacts leave a workflow before its end (docs/decisions/0135-exit-conditions-and-goals.md).
import { z } from "zod";
import { id, jsonSchemas } from "../field.ts";
import { causesOf, filter, type Filter } from "../filters.ts";
import { LIMITS } from "../limits/limits.ts";
import { awaitedEventName, waitFilter } from "./step-fields.ts";

const jsonSchema = {
  type: "object",
  description:
    "EVENT: the event happens. FILTER: the contact matches the filter. SEGMENT: the contact is not in the segment.",
  properties: {
    type: { type: "string", enum: ["EVENT", "FILTER", "SEGMENT"] },
    eventName: { type: "string", description: "Required for EVENT." },
    filter: {
      type: "object",
      description:
        "For EVENT, an optional filter on the event's data (`data.<key>`), whose values may contain variables. For FILTER, the required filter on the contact.",
    },
    segmentId: { type: "string", format: "uuid", description: "Required for SEGMENT." },
  },
  required: ["type"],
};

const exitCondition = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("EVENT"),
      eventName: awaitedEventName,
      filter: waitFilter.optional(),
    }),
    z.object({ type: z.literal("FILTER"), filter }),
    z.object({ type: z.literal("SEGMENT"), segmentId: id }),
  ])
  .register(jsonSchemas, { jsonSchema });
export type ExitCondition = z.output<typeof exitCondition>;

export const exitConditions = z
  .array(exitCondition)
  .max(LIMITS.exitConditions.value)
  .describe("An execution ends as soon as one of these holds.");

/** Exit conditions in responses. */
export const shownExitConditions = z
  .array(
    z.object({
      type: z.enum(["EVENT", "FILTER", "SEGMENT"]),
      eventName: z.string().optional(),
      filter: z.object({ operator: z.enum(["AND", "OR"]), conditions: z.array(z.unknown()) }).optional(),
      segmentId: z.uuid().optional(),
    }),
  )
  .describe("The conditions that end an execution early.");

/** Returns the filter on the contact of a condition, or null for an EVENT. */
export function contactFilterOf(condition: ExitCondition): Filter | null {
  if (condition.type === "FILTER") return condition.filter;
  if (condition.type === "EVENT") return null;
  const field = `segment.${condition.segmentId}`;
  return { operator: "AND", conditions: [{ field, operator: "notMemberOfSegment" }] };
}

export function exitSegmentIds(conditions: readonly ExitCondition[]): string[] {
  const filters = conditions.flatMap((one) => contactFilterOf(one) ?? []);
  return [...new Set(filters.flatMap((one) => causesOf(one).segments))];
}

/** Returns the names of the events that can end an execution, without entries and exits of segments. */
export function exitEventNames(conditions: readonly ExitCondition[]): string[] {
  const names = conditions.flatMap((one) => {
    const found = contactFilterOf(one);
    const { events = [], emails = [] } = found === null ? {} : causesOf(found);
    return one.type === "EVENT" ? [one.eventName] : [...events, ...emails];
  });
  return [...new Set(names)];
}

// The goal of a workflow: an event that counts as its success (docs/decisions/0135-exit-conditions-and-goals.md).
import { z } from "zod";
import { LIMITS } from "../limits/limits.ts";
import type { ExitCondition } from "./exit-conditions.ts";
import { awaitedEventName, waitFilter } from "./step-fields.ts";

const written = z.object({
  eventName: awaitedEventName,
  filter: waitFilter
    .optional()
    .describe("Filter on the event's data: `data.<key>`. Values may contain variables."),
  days: z
    .int()
    .min(1)
    .max(LIMITS.delayDays.value)
    .describe("The event counts within this many days after the entry, also once the execution has ended."),
  exits: z
    .boolean()
    .optional()
    .describe("Whether the event also ends the execution, like an exit condition. Default false."),
});
export type Goal = z.output<typeof written>;

/** The goal in requests. */
export const goal = written
  .nullable()
  .describe("An event that counts as success within some days of the entry; null for none.");

/** The goal in responses. */
export const shownGoal = z
  .object({
    eventName: z.string(),
    filter: z.object({ operator: z.enum(["AND", "OR"]), conditions: z.array(z.unknown()) }).optional(),
    days: z.int(),
    exits: z.boolean().optional(),
  })
  .nullable()
  .describe("The event that counts as success, if any.");

/** Returns the exit condition of a goal that also ends executions. */
export function exitOfGoal(goalOf: Goal | undefined): ExitCondition[] {
  if (goalOf?.exits !== true) return [];
  const { eventName, filter } = goalOf;
  return [{ type: "EVENT", eventName, ...(filter === undefined ? {} : { filter }) }];
}

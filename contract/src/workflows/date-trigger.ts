// The trigger DATE of a workflow: a time before or after a date of the contact (docs/decisions/0138-date-triggers.md).
import { z } from "zod";
import { issue } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { audienceFields } from "../schedule-trigger.ts";
import { faultsBesideDate, timeFields } from "./delay.ts";

const PREFIX = "data.";

/** Returns the key of the contact's data with the date. */
export const dateKeyOf = (dateField: string): string => dateField.slice(PREFIX.length);

export const dateTrigger = z
  .object({
    dateField: z
      .string()
      .max(PREFIX.length + LIMITS.dataKeyLength.value)
      .regex(/^data[.]./, "Must be `data.<key>`.")
      .describe("The field of the contact with the date."),
    ...timeFields,
    direction: z
      .enum(["before", "after"])
      .optional()
      .describe("Whether contacts enter before or after the date; default `after`."),
    repeat: z
      .enum(["once", "yearly"])
      .optional()
      .describe("`yearly` repeats the day and month of the date each year; default `once`."),
    ...audienceFields,
  })
  .superRefine((config, context) => {
    context.issues.push(...faultsBesideDate(config));
    const { segmentId, audienceFilter } = config;
    if ((segmentId ?? null) !== null && (audienceFilter ?? null) !== null)
      context.addIssue(
        issue("Send either `segmentId` or `audienceFilter`.", "custom", segmentId, ["segmentId"]),
      );
  });

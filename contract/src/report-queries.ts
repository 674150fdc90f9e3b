// What reports can be asked: a period in days of the viewer's zone, and which mails (decisions §10).
import { z } from "zod";
import { EMAIL_KINDS } from "./emails.ts";
import { id, issue } from "./field.ts";
import { timeZone } from "./schedule-trigger.ts";

/** No event is from before, and no calendar is sure for longer. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2999;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A day, or an instant, of which the day in the viewer's zone is meant. */
const day = z
  .string()
  .superRefine((text, context) => {
    const isDay = DAY.test(text);
    const ms = isDay || INSTANT.test(text) ? Date.parse(text) : Number.NaN;
    const year = Number(text.slice(0, 4));
    const isReal =
      !Number.isNaN(ms) &&
      year >= FIRST_YEAR &&
      year <= LAST_YEAR &&
      (!isDay || new Date(ms).toISOString().startsWith(text));
    if (!isReal)
      context.addIssue(
        issue("Must be a day, 2027-01-31, or an instant with its offset.", "invalid_date", text),
      );
  })
  .describe("A day as 2027-01-31, or an instant, of which the day in `tz` is meant.");

export const period = {
  startDate: day.optional().describe("The first day; default 29 days before the last one."),
  endDate: day.optional().describe("The last day, which belongs to the period; default today."),
  tz: timeZone.optional().describe("Whose days are meant, such as `Europe/Berlin`; default UTC."),
};

/** Who receives: providers with many domains; all others are `other`. */
export const PROVIDERS = [
  "gmail",
  "microsoft",
  "yahoo",
  "apple",
  "proton",
  "gmx",
  "yandex",
  "mail.ru",
  "other",
] as const;

export const DIMENSIONS = ["kind", "campaign", "template", "workflow", "provider"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

const FILTERS = ["kind", "campaignId", "templateId", "workflowId", "provider"] as const;

/** Which mails: all, or those of one value of one dimension. */
export const mailFilter = {
  kind: z.enum(EMAIL_KINDS).optional(),
  campaignId: id.optional(),
  templateId: id.optional(),
  workflowId: id.optional(),
  provider: z.enum(PROVIDERS).optional().describe("Of the recipient's address."),
};

/** Mails are filtered by one of these at a time: each has counts of its own. */
export function refuseSecondFilter(
  query: Partial<Record<(typeof FILTERS)[number], unknown>>,
  context: z.RefinementCtx,
) {
  const [, second] = FILTERS.filter((name) => query[name] !== undefined);
  if (second !== undefined)
    context.addIssue(
      issue(`Only one of ${FILTERS.join(", ")} at a time.`, "custom", query[second], [second]),
    );
}

export const periodQuery = z.object(period);
export const mailQuery = z.object({ ...period, ...mailFilter }).superRefine(refuseSecondFilter);

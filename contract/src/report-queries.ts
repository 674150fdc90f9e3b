// Parameters of reports: a period in days of the viewer's time zone, and the emails to count (decisions §10).
import { z } from "zod";
import { EMAIL_KINDS } from "./emails.ts";
import { id, issue } from "./field.ts";
import { PROVIDERS } from "./receiving-providers.ts";
import { timeZone } from "./schedule-trigger.ts";
import { withValues } from "./translation.ts";

/** No event is older, and calendars are not reliable beyond the last year. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2999;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A day, or a time that selects its day in the viewer's time zone. */
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
        issue("Must be a day such as 2027-01-31, or a time with its offset.", "invalid_date", text),
      );
  })
  .describe("A day such as 2027-01-31, or a time that selects its day in `tz`.");

export const period = {
  startDate: day.optional().describe("The first day; default 29 days before the last day."),
  endDate: day.optional().describe("The last day, included in the period; default today."),
  tz: timeZone.optional().describe("The time zone of the days, such as `Europe/Berlin`; default UTC."),
};

export const DIMENSIONS = ["kind", "campaign", "template", "workflow", "provider"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

const FILTERS = ["kind", "campaignId", "templateId", "workflowId", "provider"] as const;

/** Selects all emails, or those with one value of one dimension. */
export const mailFilter = {
  kind: z.enum(EMAIL_KINDS).optional(),
  campaignId: id.optional(),
  templateId: id.optional(),
  workflowId: id.optional(),
  provider: z.enum(PROVIDERS).optional().describe("The provider of the recipient's address."),
};

/** Emails can be filtered by only one of these at a time, because each has separate counts. */
export function refuseSecondFilter(
  query: Partial<Record<(typeof FILTERS)[number], unknown>>,
  context: z.RefinementCtx,
) {
  const [, second] = FILTERS.filter((name) => query[name] !== undefined);
  if (second !== undefined)
    context.addIssue(
      issue(
        withValues("Only one of {filters} at a time.", { filters: FILTERS.join(", ") }),
        "custom",
        query[second],
        [second],
      ),
    );
}

export const periodQuery = z.object(period);
export const mailQuery = z.object({ ...period, ...mailFilter }).superRefine(refuseSecondFilter);

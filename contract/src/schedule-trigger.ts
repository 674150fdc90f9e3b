// The trigger SCHEDULE of a workflow: its times and its audience (docs/decisions/0105-unknown-fields.md).
import { z } from "zod";
import { id, issue } from "./field.ts";
import { filter } from "./filters.ts";
import { withValues } from "./translation.ts";

/** An IANA time zone for times of day and schedules. */
export const timeZone = z.string().refine(isTimeZone, {
  message: "Must be a time zone of the IANA database, for example `Europe/Berlin`.",
  params: { code: "invalid_string" },
});

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The audience of a trigger: a segment or a filter, and for a schedule also everyone. */
export const audienceFields = {
  segmentId: id.nullable().optional().describe("null for no segment."),
  audienceFilter: filter.nullable().optional().describe("null for no filter."),
};

const scheduleFields = z.object({
  cron: z.string().min(1).max(100),
  timezone: timeZone.optional(),
  audienceType: z
    .enum(["ALL", "SEGMENT", "FILTERED"])
    .optional()
    .describe("Only needed for everyone (`ALL`); otherwise it follows from `segmentId` or `audienceFilter`."),
  ...audienceFields,
});

type AudienceFields = z.output<typeof scheduleFields>;

/** Returns the audiences in the fields of a schedule; exactly one if they are valid. */
function audiencesOf({ audienceType, segmentId, audienceFilter }: AudienceFields) {
  const hasSegment = (segmentId ?? null) !== null;
  const hasFilter = (audienceFilter ?? null) !== null;
  return new Set([
    ...(audienceType === undefined ? [] : [audienceType]),
    ...(hasSegment ? ["SEGMENT" as const] : []),
    ...(hasFilter ? ["FILTERED" as const] : []),
  ]);
}

const ONE_AUDIENCE = '`segmentId`, `audienceFilter`, or `audienceType: "ALL"` for everyone.';

/** Everyone is an audience only if the request says so, because a forgotten segment must not email the whole list. */
export const schedule = scheduleFields
  .superRefine((config, context) => {
    const { audienceType, segmentId, audienceFilter } = config;
    const named = audiencesOf(config);
    if (named.size === 0)
      context.addIssue(
        issue(withValues("Choose an audience: {choices}", { choices: ONE_AUDIENCE }), "required", undefined, [
          "audienceType",
        ]),
      );
    else if (named.size > 1)
      context.addIssue(
        issue(
          withValues("Choose only one audience: {choices}", { choices: ONE_AUDIENCE }),
          "custom",
          audienceType,
          ["audienceType"],
        ),
      );
    else if (audienceType === "SEGMENT" && (segmentId ?? null) === null)
      context.addIssue(issue("Required for the audience SEGMENT.", "required", undefined, ["segmentId"]));
    else if (audienceType === "FILTERED" && (audienceFilter ?? null) === null)
      context.addIssue(
        issue("Required for the audience FILTERED.", "required", undefined, ["audienceFilter"]),
      );
  })
  .transform((config) => {
    const [audienceType = "SEGMENT"] = audiencesOf(config);
    return { ...config, audienceType };
  });

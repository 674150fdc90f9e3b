// Jobs as their callers see them (spec §3.5; decisions §3): what is too much for one request is taken, and asked about by its id.
import { z } from "zod";
import { instant, pathId } from "./field.ts";

export const JOB_STATES = ["waiting", "active", "completed", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

export const byJobId = z.object({ jobId: pathId });

/** The answer 202 of a call that was queued. */
export const queuedJob = z.object({ message: z.string(), jobId: z.uuid() });

/** A job with the result of its kind. */
export function jobAnswer<Result extends z.ZodType>(result: Result) {
  return z.object({
    id: z.uuid(),
    state: z.enum(JOB_STATES),
    progress: z.int().describe("0 to 100; 100 only when it is completed."),
    result: result.nullable().describe("What came of it; null until it is completed."),
    failedReason: z.string().nullable().describe("Why it could not be completed."),
    createdAt: instant,
    finishedAt: instant.nullable(),
  });
}

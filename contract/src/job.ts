// Jobs as shown to callers (spec §3.5; decisions §3). Work that is too much for one request is queued and polled by its id.
import { z } from "zod";
import { instant, pathId } from "./field.ts";

export const JOB_STATES = ["waiting", "active", "completed", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

export const byJobId = z.object({ jobId: pathId });

/** The 202 response of a queued call. */
export const queuedJob = z.object({ message: z.string(), jobId: z.uuid() });

/** Returns the schema of a job with the result of its kind. */
export function jobResponse<Result extends z.ZodType>(result: Result) {
  return z.object({
    id: z.uuid(),
    state: z.enum(JOB_STATES),
    progress: z.int().describe("0 to 100; 100 only if it is completed."),
    result: result.nullable().describe("The result; null until it is completed."),
    failedReason: z.string().nullable().describe("The reason why it failed."),
    createdAt: instant,
    finishedAt: instant.nullable(),
  });
}

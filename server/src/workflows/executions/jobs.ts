// The job kinds of this folder, by name.
import type { JobStep } from "../../platform/background/jobs.ts";
import { DATES_JOB, datesStep } from "../dates/follow-dates.ts";
import { CANCEL_JOB, cancelStep } from "./end-executions.ts";
import { RESUME_JOB, resumeStep } from "./pauses.ts";
import { AUDIENCE_JOB, audienceStep } from "./start-executions.ts";

export function workflowJobs(): Record<string, JobStep> {
  return {
    [AUDIENCE_JOB]: audienceStep,
    [CANCEL_JOB]: cancelStep,
    [DATES_JOB]: datesStep,
    [RESUME_JOB]: resumeStep,
  };
}

// The job kinds of this folder, by name.
import type { JobStep } from "../../platform/background/jobs.ts";
import { DATES_JOB, datesStep } from "../dates/follow-dates.ts";
import { CANCEL_JOB, cancelStep } from "./end-executions.ts";
import { MOVE_JOB, moveStep } from "./move-executions.ts";
import { RESUME_JOB, resumeStep } from "./pauses.ts";
import { AUDIENCE_JOB, audienceStep } from "./start-executions.ts";
import { UNDO_MOVE_JOB, undoMoveStep } from "./undo-move.ts";

export function workflowJobs(): Record<string, JobStep> {
  return {
    [AUDIENCE_JOB]: audienceStep,
    [CANCEL_JOB]: cancelStep,
    [DATES_JOB]: datesStep,
    [MOVE_JOB]: moveStep,
    [RESUME_JOB]: resumeStep,
    [UNDO_MOVE_JOB]: undoMoveStep,
  };
}

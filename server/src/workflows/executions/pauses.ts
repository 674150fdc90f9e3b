// Pauses and resumes workflows. While a workflow is paused, its executions are stopped as they become due.
import { addJob, type JobStep } from "../../platform/background/jobs.ts";
import type { Tx } from "../../platform/database/database.ts";
import { recordProjectEvents } from "../../reactions/reactions.ts";
import { workflowEvent } from "../workflow-events.ts";
import { requireWorkflow } from "./executions.ts";
import { lockPause, releaseStoppedExecutions, updateToPaused, updateToResumed } from "./pause-queries.ts";

/** Executions released by one query. */
const BATCH_SIZE = 5_000;

export const RESUME_JOB = "workflows.resume";

/**
 * Stops the executions of a workflow before their next step. Timers keep running, and contacts still enter.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function pauseWorkflow(tx: Tx, projectId: string, workflowId: string): Promise<string> {
  const workflow = await requireWorkflow(tx, projectId, workflowId);
  if (await updateToPaused(tx, projectId, workflow.id))
    await recordProjectEvents(tx, [workflowEvent(projectId, "workflow.paused", workflow, { reason: null })]);
  return workflow.id;
}

/**
 * Lets the executions of a workflow continue, the longest overdue first. A job releases those beyond the first batch.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function resumeWorkflow(tx: Tx, projectId: string, workflowId: string): Promise<string> {
  const workflow = await requireWorkflow(tx, projectId, workflowId);
  const { id } = workflow;
  if (await updateToResumed(tx, projectId, id))
    await recordProjectEvents(tx, [workflowEvent(projectId, "workflow.resumed", workflow)]);
  if ((await releaseStoppedExecutions(tx, projectId, id, BATCH_SIZE)) === BATCH_SIZE)
    await addJob(tx, { projectId, kind: RESUME_JOB, input: { workflowId: id } });
  return id;
}

/** Releases the next batch of stopped executions, unless the workflow was paused again or deleted. */
export const resumeStep: JobStep = async (tx, { projectId, input, checkpoint }) => {
  const { workflowId } = input as { workflowId: string };
  const before = ((checkpoint ?? {}) as { released?: number }).released ?? 0;
  const isPaused = await lockPause(tx, projectId, workflowId);
  const count =
    isPaused === false ? await releaseStoppedExecutions(tx, projectId, workflowId, BATCH_SIZE) : 0;
  const released = before + count;
  return count === BATCH_SIZE
    ? { done: false, checkpoint: { released }, progress: 0 }
    : { done: true, result: { released } };
};

// Cancels executions for people, and resumes failed ones.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { branchesOf } from "@postloft/contract/workflows/graph.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { addJob, type JobStep } from "../../platform/background/jobs.ts";
import { isId } from "../../platform/ids.ts";
import type { Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { cancelWebhookCalls } from "../../webhooks/webhook-calls.ts";
import type { FailureFilter } from "./cause-queries.ts";
import { requireExecution, requireWorkflow } from "./executions.ts";
import { readGraphs } from "./load-executions.ts";
import { moveStuck } from "./move-failed.ts";
import { lockCurrentVersion } from "./move-queries.ts";
import { CANCELLED_WITH_ALL } from "./walk.ts";
import {
  cancelExecutionRows,
  countExecutions,
  hadStep,
  clearCancelMark,
  listFailedForUpdate,
  lockCancelMark,
  markCancelled,
  resumeExecutionRows,
  type ExecutionsToCancel,
} from "./list-queries.ts";

const BY_HAND = recordedReason("cancelled");
/** Executions cancelled by one query. */
const BATCH_SIZE = 5_000;

export const CANCEL_JOB = "workflows.cancel";

interface ExecutionKey {
  workflowId: string;
  id: string;
}

/** @throws AppError EXECUTION_NOT_FOUND, or CONFLICT if it has ended */
export async function cancelExecution(
  tx: Tx,
  projectId: string,
  { workflowId, id }: ExecutionKey,
): Promise<void> {
  await requireExecution(tx, projectId, workflowId, id);
  const one = { projectId, workflowId, id, limit: 1 };
  if ((await cancelSome(tx, one, BY_HAND)) === 0)
    throw new AppError("CONFLICT", { message: "The execution has already ended." });
}

async function cancelSome(tx: Tx, asked: ExecutionsToCancel, reason: string): Promise<number> {
  const { projectId } = asked;
  const { count, callIds } = await cancelExecutionRows(tx, asked, reason);
  await cancelWebhookCalls(
    tx,
    callIds.map((id) => ({ projectId, id })),
  );
  return count;
}

/**
 * Cancels all active executions of a workflow. Ends a first batch immediately and marks the others, which take no further step until a job
 * ends them.
 */
export async function cancelAll(tx: Tx, projectId: string, workflowId: string): Promise<number> {
  await requireWorkflow(tx, projectId, workflowId);
  const all = { projectId, workflowId, id: null, limit: BATCH_SIZE };
  const count = await cancelSome(tx, all, CANCELLED_WITH_ALL);
  if (count < BATCH_SIZE) return count;
  const left =
    (await countExecutions(tx, projectId, { workflowId, status: "RUNNING" })) +
    (await countExecutions(tx, projectId, { workflowId, status: "WAITING" }));
  if (left === 0) return count;
  await markCancelled(tx, projectId, workflowId);
  await addJob(tx, { projectId, kind: CANCEL_JOB, input: { workflowId } });
  return count + left;
}

/** Ends the next batch of marked executions, and clears the mark after the last one. */
export const cancelStep: JobStep = async (tx, { projectId, input, checkpoint }) => {
  const { workflowId } = input as { workflowId: string };
  const before = ((checkpoint ?? {}) as { cancelled?: number }).cancelled ?? 0;
  await lockCancelMark(tx, projectId, workflowId);
  const marked = { projectId, workflowId, id: null, limit: BATCH_SIZE, isMarked: true };
  const count = await cancelSome(tx, marked, CANCELLED_WITH_ALL);
  const cancelled = before + count;
  if (count === BATCH_SIZE) return { done: false, checkpoint: { cancelled }, progress: 0 };
  await clearCancelMark(tx, projectId, workflowId);
  return { done: true, result: { cancelled } };
};

/**
 * Retries the step at which executions failed, in the current graph if the step can no longer run in their own version.
 * @returns the number of resumed executions
 */
export async function retryFailed(tx: Tx, projectId: string, asked: FailedExecutions): Promise<number> {
  const { id: workflowId } = await requireWorkflow(tx, projectId, asked.workflowId);
  // Locks the workflow before its executions, as cancelling all of them does.
  const version = await lockCurrentVersion(tx, projectId, workflowId);
  const failed = await lockFailed(tx, projectId, asked);
  if (version !== undefined) await moveStuck(tx, projectId, { workflowId, version }, failed);
  await resumeExecutionRows(
    tx,
    projectId,
    failed.map(({ id, stepId }) => ({ id, stepId })),
  );
  return failed.length;
}

/**
 * Resumes executions after the step at which they failed, on its last branch, such as `no` or `else`, or on the first share of a RANDOM_SPLIT.
 * @returns the number of resumed executions
 */
export async function skipFailed(tx: Tx, projectId: string, asked: FailedExecutions): Promise<number> {
  const { workflowId } = asked;
  const failed = await lockFailed(tx, projectId, asked);
  const rows = failed.map(({ version }) => ({ workflowId, version }));
  const graphs = await readGraphs(tx, projectId, rows);
  const next = failed.map(({ id, version, stepId }) => {
    const graph = graphs.get(`${workflowId} ${version}`);
    const step = graph?.steps[graph.placeOf.get(stepId) ?? -1];
    const branches = step === undefined ? [] : branchesOf(step);
    const branch = branches.at(step?.type === "RANDOM_SPLIT" ? 0 : -1) ?? null;
    return { id, stepId: graph?.nextOf(stepId, branch) ?? null };
  });
  await resumeExecutionRows(tx, projectId, next);
  return failed.length;
}

export interface FailedExecutions {
  workflowId: string;
  by: { id: string } | ({ stepId: string } & FailureFilter);
}

/** @throws AppError WORKFLOW_NOT_FOUND, EXECUTION_NOT_FOUND, CONFLICT, or STEP_NOT_FOUND if no version of the workflow has the step */
async function lockFailed(tx: Tx, projectId: string, { workflowId, by }: FailedExecutions) {
  const workflow = await requireWorkflow(tx, projectId, workflowId);
  if ("id" in by) await requireExecution(tx, projectId, workflowId, by.id);
  if (workflow.cancelledUntil !== null)
    throw new AppError("CONFLICT", {
      message: "All executions of this workflow are being cancelled. Try again when that is done.",
    });
  if ("stepId" in by && !isId(by.stepId)) throw new AppError("STEP_NOT_FOUND");
  const failed = await listFailedForUpdate(tx, {
    projectId,
    workflowId,
    by,
    limit: LIMITS.executionsAtOnce.value,
  });
  if (failed.length > 0) return failed;
  if ("id" in by)
    throw new AppError("CONFLICT", {
      message:
        "The execution has not failed, or its contact is in another active execution of this workflow.",
    });
  if (!(await hadStep(tx, projectId, workflowId, by.stepId))) throw new AppError("STEP_NOT_FOUND");
  return failed;
}

// Pauses a workflow whose endpoint fails for everyone, instead of failing each contact (docs/decisions/0132-failing-and-paused-workflows.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { PausedReason } from "@postloft/contract/workflows/workflows.ts";
import type { Tx } from "../../platform/database/database.ts";
import { responseOf, stepOf } from "./execution.ts";
import type { Claimed } from "./load-executions.ts";
import {
  stopExecutions,
  lockPausesUnlessLocked,
  readFailedInARow,
  updateToPausedUnlessLocked,
  type StepKey,
} from "./pause-queries.ts";

/** A workflow that has just paused automatically. */
export interface AutomaticPause {
  workflow: { id: string; name: string };
  reason: PausedReason;
}

/** Claimed executions, divided by whether they may move. */
export interface Divided {
  moving: Claimed[];
  /** How many were stopped. */
  stopped: number;
  pauses: AutomaticPause[];
}

/** Responses of endpoints that the executions take now. */
export interface Streaks {
  failed: FailedCall[];
  succeeded: StepKey[];
}

interface FailedCall extends StepKey {
  contactId: string;
  workflow: { id: string; name: string };
  stepName: string;
  error: string;
}

/**
 * Stops executions of paused workflows, and pauses a workflow if the calls of a step failed for as many contacts as the limit, without a
 * success in between. Cancelled executions move, because they end. Executions of a workflow that is locked do not move yet, and stay due.
 */
export async function divideByPause(
  tx: Tx,
  projectId: string,
  claimed: readonly Claimed[],
): Promise<Divided> {
  const open = claimed.filter((one) => !isPaused(one));
  const pausing = await findPausing(
    tx,
    projectId,
    open.filter((one) => !ends(one)),
  );
  const pauses: AutomaticPause[] = [];
  for (const one of pausing)
    if (await updateToPausedUnlessLocked(tx, projectId, one.workflow.id, one.reason)) pauses.push(one);
  const stopping = new Set(pausing.map(({ workflow }) => workflow.id));
  const paused = new Set(pauses.map(({ workflow }) => workflow.id));
  const ids = [...new Set(claimed.filter(isPaused).map(({ execution }) => execution.workflow.id))];
  if (ids.length > 0)
    for (const one of await lockPausesUnlessLocked(tx, projectId, ids)) if (one.isPaused) paused.add(one.id);
  const stops = (one: Claimed) => !ends(one) && stopping.has(one.execution.workflow.id);
  const stopped = claimed.filter(
    (one) => (isPaused(one) || stops(one)) && paused.has(one.execution.workflow.id),
  );
  if (stopped.length > 0)
    await stopExecutions(
      tx,
      projectId,
      stopped.map(({ execution }) => execution.id),
    );
  return { moving: open.filter((one) => !stops(one)), stopped: stopped.length, pauses };
}

/** Returns whether an execution moves even in a paused workflow, because it ends. */
const ends = ({ cancelled, execution }: Claimed) => cancelled !== null || execution.contactId === null;

const isPaused = (one: Claimed) => one.isPaused && !ends(one);

const keyOf = ({ workflowId, stepId }: StepKey) => `${workflowId} ${stepId}`;

/** Returns which endpoints responded and which failed, by step. A success makes failures of the same batch irrelevant. */
export function streaksOf(claimed: readonly Claimed[]): Streaks {
  const succeeded: StepKey[] = [];
  const failed: FailedCall[] = [];
  for (const { execution, cancelled } of claimed) {
    const { contactId, workflow } = execution;
    const step = stepOf(execution);
    const response = responseOf(execution);
    if (cancelled !== null || contactId === null || step === undefined || response === null) continue;
    const key = { workflowId: workflow.id, stepId: step.id };
    if (response.is === "done") succeeded.push(key);
    if (response.is === "failed")
      failed.push({ ...key, contactId, workflow, stepName: step.name, error: response.error });
  }
  const successes = new Set(succeeded.map(keyOf));
  return { succeeded, failed: failed.filter((one) => !successes.has(keyOf(one))) };
}

/** Returns the workflows that should pause, one entry for each. */
async function findPausing(
  tx: Tx,
  projectId: string,
  claimed: readonly Claimed[],
): Promise<AutomaticPause[]> {
  const { failed } = streaksOf(claimed);
  if (failed.length === 0) return [];
  const known = await readFailedInARow(tx, projectId, failed);
  const pausing = new Map<string, AutomaticPause>();
  for (const [key, own] of Map.groupBy(failed, keyOf)) {
    const contacts = new Set([...(known.get(key) ?? []), ...own.map(({ contactId }) => contactId)]).size;
    const last = own.at(-1);
    if (last === undefined || contacts < LIMITS.webhookFailuresInARow.value) continue;
    const { workflow, stepId, stepName, error } = last;
    pausing.set(workflow.id, { workflow, reason: { stepId, stepName, contacts, error } });
  }
  return [...pausing.values()];
}

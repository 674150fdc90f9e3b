// Advances due executions in batches, each batch with all its effects in one transaction. The row lock replaces a lease, because a crash in
// between rolls everything back.
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { asUnavailable, transaction, type Database, type Tx } from "../../platform/database/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import { AppError } from "../../platform/app-error.ts";
import { contactError } from "../../contacts/constraint-errors.ts";
import { createDatabaseEnvironment, type StepParts } from "./database-environment.ts";
import type { Execution } from "./execution.ts";
import { addToStepCounts, listDueExecutions, updateExecutions, type WhichDue } from "./execution-queries.ts";
import { claimExecutions, type Claimed } from "./load-executions.ts";
import { divideByPause, streaksOf } from "./pause-failing.ts";
import { updateFailedInARow } from "./pause-queries.ts";
import { notifyFailures } from "./notify-failures.ts";
import { packTrace } from "./stored-trace.ts";
import { cancelAt, failAt, MAX_ROUNDS, walk, type Tally } from "./walk.ts";

/** Executions advanced in one transaction. */
export const BATCH_SIZE = 500;
/** Executions advanced individually per turn. Smaller, because other projects wait for the turn. */
const SEPARATE_BATCH_SIZE = 50;

/**
 * Advances one batch of due executions of a project.
 * A batch may be impossible to store because of too much contact data or a bug of ours. Each execution is then advanced separately, and a
 * faulty one step by step. Only the faulty one fails, at its faulty step.
 *
 * @param onFault is called for errors that only we can fix
 */
export async function advanceDue(
  database: Database,
  parts: StepParts,
  projectId: string,
  limit = BATCH_SIZE,
  onFault: OnFault = () => undefined,
): Promise<number> {
  const moved = await transaction(database, (tx) => advanceBatch(tx, parts, projectId, { limit })).catch(
    (error: unknown) => {
      if (isUnavailable(error)) throw error;
      return advanceSeparately(database, parts, projectId, limit, onFault);
    },
  );
  if (moved > 0) await failpoint("workflow.after_commit");
  return moved;
}

type OnFault = (error: unknown, executionId: string) => void;

const isUnavailable = (error: unknown) => asUnavailable(error) instanceof AppError;

async function advanceSeparately(
  database: Database,
  parts: StepParts,
  projectId: string,
  limit: number,
  onFault: OnFault,
): Promise<number> {
  let total = 0;
  for (const id of await listDueExecutions(database, projectId, Math.min(limit, SEPARATE_BATCH_SIZE))) {
    total += await transaction(database, (tx) => advanceBatch(tx, parts, projectId, { limit: 1, id })).catch(
      (error: unknown) => {
        if (isUnavailable(error)) throw error;
        return advanceByStep(database, parts, { projectId, id }, onFault);
      },
    );
  }
  return total;
}

/** Runs each step in its own transaction, so that steps before the faulty one are stored and not repeated. */
async function advanceByStep(
  database: Database,
  parts: StepParts,
  { projectId, id }: { projectId: string; id: string },
  onFault: OnFault,
): Promise<number> {
  let hasMoved = false;
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    let stood: string | undefined;
    try {
      const moved = await transaction(database, async (tx) => {
        const claimed = await claimExecutions(tx, projectId, { limit: 1, id });
        stood = claimed.map(statusOf)[0];
        return advanceClaimed(tx, parts, projectId, claimed, 1);
      });
      if (moved === 0) break;
      hasMoved = true;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const appError = contactError(error);
      if (appError === null) onFault(error, id);
      const reason = appError?.fields?.[0]?.message ?? appError?.message ?? INTERNAL_ERROR;
      const hasFailed = await transaction(database, (tx) =>
        failWhere(tx, parts, { projectId, id, stood }, reason),
      );
      return hasFailed || hasMoved ? 1 : 0;
    }
  }
  return hasMoved ? 1 : 0;
}

const INTERNAL_ERROR = recordedReason("internal");

/** Returns a comparable key of an execution's position and contact. */
const statusOf = ({ execution: { stepId, trace, contactId }, cancelled }: Claimed) =>
  JSON.stringify([stepId, trace.length, contactId, cancelled]);

/**
 * Fails an execution at the step where it was. Does nothing if another process has advanced it since.
 * @returns whether it failed
 */
async function failWhere(
  tx: Tx,
  parts: StepParts,
  { projectId, id, stood }: { projectId: string; id: string; stood: string | undefined },
  reason: string,
): Promise<boolean> {
  const claimed = await claimExecutions(tx, projectId, { limit: 1, id });
  const failed = claimed.find((one) => statusOf(one) === stood);
  if (failed === undefined) return false;
  const { execution, now } = failed;
  const tally: Tally = new Map();
  failAt(execution, reason, now, tally);
  await store(tx, projectId, [execution], tally);
  await notifyFailures(tx, parts, { projectId, executions: [execution], pauses: [] });
  return true;
}

async function advanceBatch(tx: Tx, parts: StepParts, projectId: string, which: WhichDue): Promise<number> {
  return advanceClaimed(tx, parts, projectId, await claimExecutions(tx, projectId, which), MAX_ROUNDS);
}

async function advanceClaimed(
  tx: Tx,
  parts: StepParts,
  projectId: string,
  executions: readonly Claimed[],
  maxRounds: number,
): Promise<number> {
  const [first] = executions;
  if (first === undefined) return 0;
  await failpoint("workflow.claimed");
  const { moving, stopped, pauses } = await divideByPause(tx, projectId, executions);
  const streaks = streaksOf(moving);
  const environment = createDatabaseEnvironment(tx, { ...parts, projectId, now: first.now });
  const going = moving.flatMap(({ execution, cancelled }) => (cancelled === null ? [execution] : []));
  const tally = await walk(environment, going, maxRounds);
  for (const { execution, cancelled } of moving)
    if (cancelled !== null) cancelAt(execution, cancelled, first.now, tally);
  const moved = moving.map(({ execution }) => execution);
  await store(tx, projectId, moved, tally);
  await updateFailedInARow(tx, projectId, streaks);
  await notifyFailures(tx, parts, { projectId, executions: moved, pauses });
  await failpoint("workflow.before_commit");
  return moved.length + stopped;
}

async function store(
  tx: Tx,
  projectId: string,
  executions: readonly Execution[],
  tally: Tally,
): Promise<void> {
  await storeExecutions(tx, projectId, executions);
  await storeTally(tx, projectId, tally);
}

export async function storeExecutions(
  tx: Tx,
  projectId: string,
  executions: readonly Execution[],
): Promise<void> {
  await updateExecutions(
    tx,
    projectId,
    executions.map((execution) => ({
      id: execution.id,
      status: execution.status,
      stepId: execution.stepId,
      dueAt: execution.dueAt,
      waitsFor: execution.waitsFor,
      results: Object.keys(execution.results).length === 0 ? null : JSON.stringify(execution.results),
      trace: packTrace(execution.trace),
      exitReason: execution.exitReason,
      fromPublicKey: execution.fromPublicKey ? (true as const) : null,
    })),
  );
}

/** Stores the counts of steps. Lock no execution afterwards, because the engine locks executions before counts. */
export async function storeTally(tx: Tx, projectId: string, tally: Tally): Promise<void> {
  const counts = [...tally].flatMap(([workflowId, steps]) =>
    [...steps].map(([stepId, count]) => ({ workflowId, stepId, ...count })),
  );
  if (counts.length > 0) await addToStepCounts(tx, projectId, counts);
}

// Moves active executions to the current version of their workflow, in a job (docs/decisions/0140-moves-to-another-version.md).
import type { MoveCounts } from "@postloft/contract/workflows/moves.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { addJob, type JobStep } from "../../platform/background/jobs.ts";
import type { Tx } from "../../platform/database/database.ts";
import { AppError, requireUnchanged } from "../../platform/app-error.ts";
import { lockGraph } from "../save-graph.ts";
import { subscribeWorkflows } from "../subscriptions.ts";
import { storeTally } from "./advance.ts";
import { markVersionsUsed } from "./entry-queries.ts";
import { requireWorkflow } from "./executions.ts";
import { readGraphs } from "./load-executions.ts";
import { requireChoices } from "./move-choices.ts";
import {
  listMovable,
  lockMovable,
  updateMovedExecutions,
  type MovedExecution,
  type Selection,
  type StandingRow,
  type WhichMovable,
} from "./move-queries.ts";
import { planMove, type Choices, type LeftOut, type Moved, type Standing } from "./move-rules.ts";
import { packTrace, unpackTrace } from "./stored-trace.ts";
import type { StepTally, Tally } from "./walk.ts";

export const MOVE_JOB = "workflows.move";

/** Executions moved by one step of the job. */
const PAGE_SIZE = 1_000;
const ENDED = recordedReason("endedByMove");

export interface MoveRequest extends Selection {
  choices: Choices;
  applyDelays: boolean;
  expectedUpdatedAt: string | undefined;
}

export interface MoveInput extends WhichMovable {
  choices: Choices;
  applyDelays: boolean;
  /** How many there were at the call. */
  total: number;
}

/**
 * Queues a move to the current version, which no longer changes from then on. Returns the id of the job.
 * @throws AppError WORKFLOW_NOT_FOUND, CHANGED_MEANWHILE, CONFLICT while all executions are being cancelled, or VALIDATION_ERROR if a chosen
 * step is not in the version, or if executions are at a step without a counterpart and a choice
 */
export async function requestMove(
  tx: Tx,
  projectId: string,
  workflowId: string,
  { choices, applyDelays, expectedUpdatedAt, ...selection }: MoveRequest,
): Promise<string> {
  const { row } = await lockGraph(tx, projectId, workflowId);
  requireUnchanged(row, expectedUpdatedAt);
  const { id, version } = row;
  const workflow = await requireWorkflow(tx, projectId, id);
  if (workflow.cancelledUntil !== null)
    throw new AppError("CONFLICT", {
      message: "All executions of this workflow are being cancelled. Try again when that is done.",
    });
  const which = { workflowId: id, version, selection };
  const total = await requireChoices(tx, projectId, which, choices);
  await markVersionsUsed(tx, projectId, [{ workflowId: id, version }]);
  await subscribeWorkflows(tx, projectId);
  const input: MoveInput = { ...which, choices, applyDelays, total };
  return addJob(tx, { projectId, kind: MOVE_JOB, input });
}

interface Checkpoint {
  after: string;
  seen: number;
  moved: number;
  ended: number;
  leftOut: Partial<Record<LeftOut, number>>;
}

/** Moves the next page of executions, in the order of their contacts. */
export const moveStep: JobStep = async (tx, { projectId, id, input, checkpoint }) => {
  const asked = input as MoveInput;
  const {
    after = null,
    seen = 0,
    moved = 0,
    ended = 0,
    leftOut = {},
  } = (checkpoint ?? {}) as Partial<Checkpoint>;
  const page = await listMovable(tx, projectId, asked, { after, limit: PAGE_SIZE });
  const ids = page.map((one) => one.id);
  const rows = ids.length === 0 ? [] : await lockMovable(tx, projectId, asked, ids);
  const plans = await planAll(tx, projectId, { id, asked, rows });
  const going = plans.filter((plan) => typeof plan !== "string");
  await storeMoved(tx, projectId, asked.workflowId, going);
  const counts: Omit<Checkpoint, "after"> = {
    seen: seen + page.length,
    moved: moved + going.filter(({ stepId }) => stepId !== null).length,
    ended: ended + going.filter(({ stepId }) => stepId === null).length,
    leftOut: { ...leftOut },
  };
  for (const plan of plans)
    if (typeof plan === "string") counts.leftOut[plan] = (counts.leftOut[plan] ?? 0) + 1;
  const last = page.at(-1);
  if (last !== undefined && page.length === PAGE_SIZE)
    return {
      done: false,
      checkpoint: { ...counts, after: last.contactId } satisfies Checkpoint,
      progress: (counts.seen / Math.max(1, asked.total)) * 100,
    };
  return { done: true, result: resultOf(counts) };
};

function resultOf({ moved, ended, leftOut }: Omit<Checkpoint, "after">): MoveCounts {
  const reasons = Object.entries(leftOut) as Array<[LeftOut, number]>;
  return { moved, ended, leftOut: reasons.map(([reason, count]) => ({ reason, count })) };
}

/** Returns the stored state of an execution with its trace. */
export function standingOf<Stored extends Pick<StandingRow, "trace" | "moves">>({
  trace,
  moves,
  ...row
}: Stored) {
  return { ...row, trace: unpackTrace(trace), moves: (moves ?? []) as Standing["moves"] };
}

async function planAll(
  tx: Tx,
  projectId: string,
  { id, asked, rows }: { id: string; asked: MoveInput; rows: readonly StandingRow[] },
): Promise<Array<Moved | LeftOut>> {
  const { workflowId, version, choices, applyDelays } = asked;
  const versions = [version, ...rows.map((row) => row.version)];
  const graphs = await readGraphs(
    tx,
    projectId,
    versions.map((one) => ({ workflowId, version: one })),
  );
  const to = graphs.get(`${workflowId} ${version}`);
  return rows.flatMap((row) => {
    const from = graphs.get(`${workflowId} ${row.version}`);
    if (from === undefined || to === undefined || row.stepId === null) return [];
    const standing = { ...standingOf(row), stepId: row.stepId };
    return [planMove(standing, { id, version, from, to, choices, applyDelays, now: row.now })];
  });
}

/** Stores moved executions and the counts of the steps that they left. With `sign` -1, they return to these steps. */
export async function storeMoved(
  tx: Tx,
  projectId: string,
  workflowId: string,
  moved: readonly Moved[],
  sign: 1 | -1 = 1,
): Promise<void> {
  if (moved.length === 0) return;
  await updateMovedExecutions(
    tx,
    projectId,
    moved.map(({ id, version, stepId, trace, moves }): MovedExecution => {
      const isOpen = trace.length > 0 && trace.at(-1)?.end === undefined;
      return {
        id,
        version,
        stepId,
        status: stepId === null ? "EXITED" : isOpen ? "WAITING" : "RUNNING",
        trace: packTrace(trace),
        moves: JSON.stringify(moves),
        exitReason: stepId === null ? ENDED : null,
      };
    }),
  );
  const counts = new Map<string, StepTally>();
  for (const { left } of moved) {
    if (left === null) continue;
    const none = { entered: 0, passed: 0, skipped: 0, failed: 0, cancelled: 0 };
    const count = counts.get(left.stepId) ?? none;
    if (left.is === "SKIPPED") count.skipped += sign;
    else count.cancelled += sign;
    counts.set(left.stepId, count);
  }
  const tally: Tally = new Map([[workflowId, counts]]);
  await storeTally(tx, projectId, tally);
}

// Reads moves of executions and undoes them, for executions that have taken no step since
// (docs/decisions/0140-moves-to-another-version.md).
import type { MoveCounts, UndoMoveCounts } from "@postloft/contract/workflows/moves.ts";
import {
  addUndoJob,
  readJob,
  readJobInput,
  readUndoJob,
  type JobStep,
} from "../../platform/background/jobs.ts";
import { isId } from "../../platform/ids.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { requireWorkflow } from "./executions.ts";
import { readGraphs } from "./load-executions.ts";
import { MOVE_JOB, standingOf, storeMoved, type MoveInput } from "./move-executions.ts";
import { listReentered, lockMovedBy } from "./move-queries.ts";
import { planReturn } from "./move-rules.ts";

export const UNDO_MOVE_JOB = "workflows.undo-move";

/** Executions checked by one step of the job. */
const PAGE_SIZE = 1_000;

interface MoveKey {
  workflowId: string;
  jobId: string;
}

/** @throws AppError WORKFLOW_NOT_FOUND, or JOB_NOT_FOUND if the workflow has no such move */
async function requireMove(database: Database, projectId: string, { workflowId, jobId }: MoveKey) {
  const workflow = await requireWorkflow(database, projectId, workflowId);
  const key = { projectId, id: jobId };
  const about = isId(jobId) ? await readJobInput(database, key, [MOVE_JOB]) : undefined;
  const job = isId(jobId) ? await readJob<MoveCounts>(database, key, [MOVE_JOB]) : undefined;
  const input = about?.input as MoveInput | undefined;
  if (job === undefined || input?.workflowId !== workflow.id) throw new AppError("JOB_NOT_FOUND");
  return { key, job, input };
}

/** @throws AppError WORKFLOW_NOT_FOUND, JOB_NOT_FOUND */
export async function getMove(database: Database, projectId: string, asked: MoveKey) {
  const { key, job, input } = await requireMove(database, projectId, asked);
  const undo = await readUndoJob<UndoMoveCounts>(database, key, UNDO_MOVE_JOB);
  return { version: input.version, job, undo: undo ?? null };
}

/**
 * Queues the undo of a move. Returns the id of its job.
 * @throws AppError WORKFLOW_NOT_FOUND, JOB_NOT_FOUND, or CONFLICT while the move runs
 */
export async function startUndoOfMove(
  tx: Tx,
  projectId: string,
  asked: MoveKey,
  actor: string,
): Promise<string> {
  const { key, job } = await requireMove(tx, projectId, asked);
  if (job.finishedAt === null)
    throw new AppError("CONFLICT", { message: "The move is still running. Undo it after it ends." });
  return addUndoJob(tx, { projectId, kind: UNDO_MOVE_JOB, undoes: key.id, actor });
}

interface Checkpoint {
  after: string;
  returned: number;
}

/** Returns the next page of moved executions to their version and step before the move. */
export const undoMoveStep: JobStep = async (tx, { projectId, id, input, checkpoint }) => {
  const { undoes: moveId } = input as { undoes: string };
  const { after = null, returned = 0 } = (checkpoint ?? {}) as Partial<Checkpoint>;
  const about = await readJobInput(tx, { projectId, id: moveId }, [MOVE_JOB]);
  const move = await readJob<MoveCounts>(tx, { projectId, id: moveId }, [MOVE_JOB]);
  const asked = about?.input as MoveInput | undefined;
  if (asked === undefined) return { done: true, result: { returned, kept: 0 } satisfies UndoMoveCounts };
  const { workflowId } = asked;
  const page = await lockMovedBy(tx, projectId, { workflowId, moveId, after, limit: PAGE_SIZE });
  const rows = page.map(standingOf);
  const ended = rows.filter(({ status }) => status === "EXITED").map((row) => row.id);
  const reentered = new Set(ended.length === 0 ? [] : await listReentered(tx, projectId, ended));
  const graphs = await readGraphs(
    tx,
    projectId,
    rows.flatMap(({ version, moves }) =>
      [version, moves.at(-1)?.from ?? version].map((one) => ({ workflowId, version: one })),
    ),
  );
  const going = rows.flatMap((row) => {
    const from = graphs.get(`${workflowId} ${row.version}`);
    const to = graphs.get(`${workflowId} ${row.moves.at(-1)?.from ?? row.version}`);
    if (from === undefined || to === undefined || reentered.has(row.id)) return [];
    return planReturn(row, { id, from, to, now: row.now }) ?? [];
  });
  await storeMoved(tx, projectId, workflowId, going, -1);
  const total = returned + going.length;
  const last = page.at(-1);
  const all = (move?.result?.moved ?? 0) + (move?.result?.ended ?? 0);
  if (last !== undefined && page.length === PAGE_SIZE)
    return {
      done: false,
      checkpoint: { after: last.id, returned: total } satisfies Checkpoint,
      progress: (total / Math.max(1, all)) * 100,
    };
  const kept = Math.max(0, all - total);
  return { done: true, result: { returned: total, kept } satisfies UndoMoveCounts };
};

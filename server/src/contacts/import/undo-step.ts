// The job `contacts.undo-import`. Each step undoes one row of `import_changes` and deletes it, so that a crash repeats nothing.
import type { UndoCounts } from "@postloft/contract/import-undo.ts";
import type { Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import type { JobKey, JobStep } from "../../platform/background/jobs.ts";
import { enqueueContactEvents } from "../../reactions/reactions.ts";
import { deleteContacts } from "../contacts.ts";
import { flipSubscriptions, lockContacts } from "../queries.ts";
import type { UndoContext } from "./undo-import.ts";
import {
  countChangeRows,
  countCreated,
  deleteChangeRow,
  findFirstChange,
  findTurns,
  mergeChanges,
  restoreData,
  type ChangeRow,
} from "./undo-queries.ts";

interface UndoInput {
  /** The id of the import. */
  undoes: string;
  /** The requester for the consent log: the id of a user, or `key`. */
  actor: string;
}

interface Checkpoint {
  counts: UndoCounts;
  /** Number of rows at the start and of rows already undone. */
  total: number;
  done: number;
}

const NOTHING: UndoCounts = {
  removedCount: 0,
  removedWithEmailCount: 0,
  removedWithActivityCount: 0,
  restoredCount: 0,
  keptCount: 0,
  subscriptionRestoredCount: 0,
  subscriptionKeptCount: 0,
  segmentRemovedCount: 0,
};

export function stepOfUndo(context: UndoContext): JobStep {
  return async (tx, job) => {
    const { undoes, actor } = job.input as UndoInput;
    const undone = { projectId: job.projectId, id: undoes };
    const before = (job.checkpoint as Checkpoint | null) ?? (await begin(tx, undone));
    const row = await findFirstChange(tx, undone);
    if (row === undefined) return { done: true, result: before.counts };
    const counts = add(before.counts, await undoRow(tx, undone, row, { ...context, actor }));
    await deleteChangeRow(tx, undone, row.number);
    const done = before.done + 1;
    return {
      done: false,
      checkpoint: { counts, total: before.total, done },
      progress: (100 * done) / before.total,
    };
  };
}

async function begin(tx: Tx, job: JobKey): Promise<Checkpoint> {
  await mergeChanges(tx, job);
  return { counts: NOTHING, total: await countChangeRows(tx, job), done: 0 };
}

function add(one: UndoCounts, other: Partial<UndoCounts>): UndoCounts {
  const sum = { ...one };
  for (const name of Object.keys(NOTHING) as Array<keyof UndoCounts>) sum[name] += other[name] ?? 0;
  return sum;
}

async function undoRow(
  tx: Tx,
  job: JobKey,
  row: ChangeRow,
  { dependents, suppressionOf, members, actor }: UndoContext & { actor: string },
): Promise<Partial<UndoCounts>> {
  const { projectId } = job;
  const { kind, number, contactIds, segmentId } = row;
  if (kind === "CREATED") {
    const { hasEmail, isActive } = await countCreated(tx, job, number);
    const removed = await deleteContacts(tx, projectId, contactIds, dependents, true);
    return {
      removedCount: removed.length,
      removedWithEmailCount: hasEmail,
      removedWithActivityCount: isActive,
    };
  }
  if (kind === "MEMBER")
    return {
      segmentRemovedCount: segmentId === null ? 0 : await members.remove(tx, job, { number, segmentId }),
    };
  // A new statement after the lock sees the changes committed before it.
  await lockContacts(tx, projectId, contactIds, "changing");
  if (kind === "CHANGED") {
    const { restored, kept } = await restoreData(tx, job, number);
    await note(tx, projectId, restored);
    return { restoredCount: restored.length, keptCount: kept };
  }
  const { turns, kept } = await findTurns(tx, job, number, suppressionOf);
  const via = { source: "import" as const, actor, ip: null };
  // No events are recorded, because the contacts took no action and a welcome workflow must not email them again.
  await flipSubscriptions(
    tx,
    turns.map((turn) => ({ projectId, ...turn, changeId: newId(), via })),
  );
  await note(
    tx,
    projectId,
    turns.map(({ id }) => id),
  );
  return { subscriptionRestoredCount: turns.length, subscriptionKeptCount: kept };
}

async function note(tx: Tx, projectId: string, contactIds: readonly string[]): Promise<void> {
  await enqueueContactEvents(
    tx,
    contactIds.map((contactId) => ({ projectId, contactId })),
  );
}

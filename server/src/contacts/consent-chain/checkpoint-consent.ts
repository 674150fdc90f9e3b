// Adds committed rows of the consent log to the hash chain of their project. It runs some seconds later and in batches, so that no
// subscription change waits for another (docs/decisions/0083-consent-chain.md).
import { startLoop, type Loop } from "../../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import {
  areOlderOver,
  insertCheckpoints,
  listEntries,
  lockHead,
  lockCheckpointed,
  readLastPosition,
  readNewTransaction,
  readCheckpointed,
  updateCheckpointed,
  upsertHeads,
  type HeadRow,
  type CheckpointRow,
} from "./queries.ts";
import { digestOf, FIRST_HASH, hashCheckpoint, type HashedEntry } from "./rules.ts";

const EVERY_MS = 5_000;
/** Maximum number of rows per transaction. */
const STEP_ROWS = 2_000;

/** A position in the log. Once all transactions older than the cut have ended, no new row can appear at or below its position. */
export interface Cut {
  /** The last assigned position. */
  position: number;
  transaction: string;
  at: Date;
}

/** Returns null if all rows already have a checkpoint. */
export async function takeCut(database: Database): Promise<Cut | null> {
  const position = await readLastPosition(database);
  if (position <= (await readCheckpointed(database))) return null;
  // Read after the position, because every transaction that was assigned an earlier position is older than this one.
  return { position, ...(await readNewTransaction(database)) };
}

/**
 * Writes checkpoints for all rows up to a cut.
 * @returns false, without any change, if a transaction from before the cut is still open
 */
export async function checkpointUpTo(database: Database, cut: Cut, signal?: AbortSignal): Promise<boolean> {
  if (!(await areOlderOver(database, cut.transaction))) return false;
  let hasMore = true;
  while (hasMore && signal?.aborted !== true)
    hasMore = await transaction(database, (tx) => checkpointStep(tx, cut));
  return true;
}

/** Returns whether there is more. */
async function checkpointStep(tx: Tx, cut: Cut): Promise<boolean> {
  const checkpointed = await lockCheckpointed(tx);
  if (checkpointed === undefined || checkpointed >= cut.position) return false;
  const entries = await listEntries(tx, { after: checkpointed, upTo: cut.position, limit: STEP_ROWS });
  const last = entries.at(-1);
  const hasMore = last !== undefined && entries.length === STEP_ROWS && last.position < cut.position;
  const { at } = await readNewTransaction(tx);
  const byProject = Map.groupBy(entries, (entry) => entry.projectId);
  const checkpoints: CheckpointRow[] = [];
  // Sorted, because every transaction that locks several projects uses this order.
  for (const projectId of [...byProject.keys()].toSorted()) {
    const head = await lockHead(tx, projectId, FIRST_HASH);
    if (head === undefined) continue;
    const completeTo = hasMore ? null : cut.at;
    checkpoints.push(checkpointOf(head, byProject.get(projectId) ?? [], { at, completeTo }));
  }
  if (checkpoints.length > 0) {
    await insertCheckpoints(tx, checkpoints);
    await upsertHeads(tx, checkpoints);
  }
  await updateCheckpointed(tx, hasMore ? last.position : cut.position);
  return hasMore;
}

function checkpointOf(
  head: HeadRow,
  entries: readonly HashedEntry[],
  { at, completeTo }: { at: Date; completeTo: Date | null },
): CheckpointRow {
  const checkpoint = {
    projectId: head.projectId,
    number: head.number + 1,
    at,
    completeTo,
    positions: entries.map(({ position }) => position),
    digests: Buffer.concat(entries.map(digestOf)),
  };
  return { ...checkpoint, hash: hashCheckpoint(head.hash, checkpoint) };
}

/** Writes checkpoints in the background until it is stopped. Any number of processes may run it. */
export function startCheckpointingConsent({
  database,
  log,
  metrics,
}: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): Loop {
  let waiting: Cut | null = null;
  return startLoop({
    name: "consent seals",
    async runOnce(signal) {
      const cut = waiting ?? (await takeCut(database));
      // Take a new cut after a failure, because a failover may have changed the database.
      waiting = null;
      if (cut !== null && !(await checkpointUpTo(database, cut, signal))) waiting = cut;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}

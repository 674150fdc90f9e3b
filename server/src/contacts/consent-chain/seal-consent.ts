// Seals the consent log behind those who write it: what is committed goes into the chain of its project, some seconds later and many rows
// at once, so that no subscription waits for another (docs/decisions/0083-consent-chain.md).
import { startLoop, type Loop } from "../../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import {
  areOlderOver,
  insertSeals,
  listEntries,
  lockHead,
  lockSealed,
  readLastPosition,
  readNewTransaction,
  readSealed,
  updateSealed,
  upsertHeads,
  type HeadRow,
  type SealRow,
} from "./queries.ts";
import { digestOf, FIRST_HASH, hashSeal, type HashedEntry } from "./rules.ts";

const EVERY_MS = 5_000;
/** Rows that one transaction seals. */
const STEP_ROWS = 2_000;

/** A line through the log: once all transactions before it are over, nothing comes in above it any more. */
export interface Cut {
  /** The last position that was given out. */
  position: number;
  transaction: string;
  at: Date;
}

/** Null: nothing was written since the last row was sealed. */
export async function takeCut(database: Database): Promise<Cut | null> {
  const position = await readLastPosition(database);
  if (position <= (await readSealed(database))) return null;
  // After the position: whoever was given one before has a transaction that is older than this one.
  return { position, ...(await readNewTransaction(database)) };
}

/**
 * Seals everything up to a cut.
 *
 * @returns false: a transaction from before the cut is still under way, and nothing was done
 */
export async function sealUpTo(database: Database, cut: Cut, signal?: AbortSignal): Promise<boolean> {
  if (!(await areOlderOver(database, cut.transaction))) return false;
  let hasMore = true;
  while (hasMore && signal?.aborted !== true)
    hasMore = await transaction(database, (tx) => sealStep(tx, cut));
  return true;
}

/** Returns whether there is more. */
async function sealStep(tx: Tx, cut: Cut): Promise<boolean> {
  const sealed = await lockSealed(tx);
  if (sealed === undefined || sealed >= cut.position) return false;
  const entries = await listEntries(tx, { after: sealed, upTo: cut.position, limit: STEP_ROWS });
  const last = entries.at(-1);
  const hasMore = last !== undefined && entries.length === STEP_ROWS && last.position < cut.position;
  const { at } = await readNewTransaction(tx);
  const byProject = Map.groupBy(entries, (entry) => entry.projectId);
  const seals: SealRow[] = [];
  // In one order, as whoever locks several projects does.
  for (const projectId of [...byProject.keys()].toSorted()) {
    const head = await lockHead(tx, projectId, FIRST_HASH);
    if (head === undefined) continue;
    const completeTo = hasMore ? null : cut.at;
    seals.push(sealOf(head, byProject.get(projectId) ?? [], { at, completeTo }));
  }
  if (seals.length > 0) {
    await insertSeals(tx, seals);
    await upsertHeads(tx, seals);
  }
  await updateSealed(tx, hasMore ? last.position : cut.position);
  return hasMore;
}

function sealOf(
  head: HeadRow,
  entries: readonly HashedEntry[],
  { at, completeTo }: { at: Date; completeTo: Date | null },
): SealRow {
  const seal = {
    projectId: head.projectId,
    number: head.number + 1,
    at,
    completeTo,
    positions: entries.map(({ position }) => position),
    digests: Buffer.concat(entries.map(digestOf)),
  };
  return { ...seal, hash: hashSeal(head.hash, seal) };
}

/** Seals in the background until it is stopped; any number of processes may. */
export function startSealingConsent({
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
      // Taken anew after a failure: the database may be another one by then.
      waiting = null;
      if (cut !== null && !(await sealUpTo(database, cut, signal))) waiting = cut;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}

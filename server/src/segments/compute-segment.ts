// Computes all members of a tracked segment in one statement, immediately or in the background.
import type { Filter } from "@postloft/contract/filters.ts";
import { limitStatements, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { restrictionForAll, restrictionOf } from "./filters/compile-filter.ts";
import { loadSegmentsFor } from "./filters/load-segments.ts";
import { getSegmentRow } from "./segments.ts";
import { deleteMembers, syncMembers, type Among } from "./member-queries.ts";
import {
  findSegmentForUpdate,
  lockDueSegment,
  updateComputed,
  updateComputeDue,
  type SegmentRow,
} from "./queries.ts";
import { eventNamesOf } from "./rules.ts";

/** Adding a million members in one statement exceeds the usual timeout. */
const COMPUTE_TIMEOUT_MS = 5 * 60_000;
const REMOVE_BATCH = 10_000;

const EVERYONE: Among = { contactIds: null, fromPublicKey: [] };

export interface Computed {
  added: number;
  removed: number;
  total: number;
}

/**
 * Marks the segment as due. Must be committed before `computeSegment` begins, so that the background job computes the segment after a
 * crash.
 * @throws AppError SEGMENT_NOT_FOUND, or CONFLICT for an untracked segment.
 */
export async function requestCompute(database: Database, projectId: string, id: string): Promise<void> {
  const row = await getSegmentRow(database, projectId, id);
  if (row.type === "STATIC" || !row.trackMembership)
    throw new AppError("CONFLICT", {
      message: "Only a dynamic segment with trackMembership can update its members. Use refresh to count.",
    });
  await updateComputeDue(database, projectId, [row.id]);
}

/** Computes a tracked segment and records one event for each contact that entered or left (spec §4.6). */
export async function computeSegment(tx: Tx, projectId: string, id: string): Promise<Computed> {
  const row = await findSegmentForUpdate(tx, projectId, id);
  if (row === undefined) throw new AppError("SEGMENT_NOT_FOUND");
  return compute(tx, projectId, row, EVERYONE);
}

/** Computes a due segment unless another process does. Returns whether the segment needs another run. */
export async function computeDueSegment(database: Database, projectId: string, id: string): Promise<boolean> {
  return transaction(database, async (tx) => {
    const row = await lockDueSegment(tx, projectId, id);
    if (row === undefined) return false;
    if (row.trackMembership) {
      await compute(tx, projectId, row, EVERYONE);
      return false;
    }
    const removed = await deleteMembers(tx, projectId, id, REMOVE_BATCH);
    if (removed < REMOVE_BATCH) await updateComputed(tx, projectId, id);
    return removed === REMOVE_BATCH;
  });
}

/** Makes the members of a locked segment true: all of them, or only as far as these contacts go. */
export async function compute(tx: Tx, projectId: string, row: SegmentRow, among: Among): Promise<Computed> {
  const { contactIds } = among;
  const filters = row.filters as Filter;
  const segments = await loadSegmentsFor(tx, projectId, [filters]);
  if (contactIds === null) await limitStatements(tx, COMPUTE_TIMEOUT_MS);
  const matches =
    contactIds === null
      ? await restrictionForAll(tx, filters, { projectId, segments })
      : await restrictionOf(tx, filters, { projectId, segments, fewContacts: true });
  const computed = await syncMembers(tx, { projectId, id: row.id }, matches, eventNamesOf(row), among);
  if (contactIds === null) await updateComputed(tx, projectId, row.id);
  return computed;
}

// Previews and queues the undo of an import (docs/decisions/0103-undo-an-import.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import type * as contract from "@postloft/contract/import-undo.ts";
import type { UndoCounts } from "@postloft/contract/import-undo.ts";
import type { z } from "zod";
import { asMessage, withValues, type Wording } from "@postloft/contract/translation.ts";
import { nowMs } from "../../platform/clock.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { hasTime, idTimeMs, isId } from "../../platform/ids.ts";
import {
  addUndoJob,
  readJob,
  readJobInput,
  readUndoJob,
  type JobKey,
} from "../../platform/background/jobs.ts";
import { AppError } from "../../platform/app-error.ts";
import type { Dependents } from "../contacts.ts";
import { IMPORT_KIND } from "./import-contacts.ts";
import type { ImportInput } from "./import-input.ts";
import { countUndo, type SuppressionOf } from "./undo-queries.ts";

export const UNDO_KIND = "contacts.undo-import";

/** Dependencies on later folders for contacts that an undo changes. */
export interface UndoContext {
  dependents: readonly Dependents[];
  suppressionOf: SuppressionOf;
  members: ImportedMembers;
}

/** Memberships of static segments that an import added. A later folder stores them. */
export interface ImportedMembers {
  /** Counts existing contacts that are still in the segment since the import. */
  count(database: Database, job: JobKey): Promise<number>;
  /** Removes the members listed in one row of `import_changes` from the segment and returns their number. */
  remove(tx: Tx, job: JobKey, row: { number: number; segmentId: string }): Promise<number>;
}

export type UndoView = z.output<typeof contract.importUndo>;

/**
 * Returns the effects of undoing an import, or the state of the undo.
 * @throws AppError JOB_NOT_FOUND, or CONFLICT if the import cannot be undone
 */
export async function getUndo(
  database: Database,
  projectId: string,
  id: string,
  { suppressionOf, members }: UndoContext,
): Promise<UndoView> {
  const job = { projectId, id };
  const until = await requireUndoable(database, job);
  const undo = await readUndoJob<UndoCounts>(database, job, UNDO_KIND);
  const isAsked = undo !== undefined && undo.state !== "failed";
  const counts = isAsked
    ? null
    : {
        ...(await countUndo(database, job, suppressionOf)),
        segmentRemovedCount: await members.count(database, job),
      };
  return { until: until.toISOString(), counts, job: undo ?? null };
}

/**
 * Queues the undo of an import and returns the id of its job.
 * @throws AppError JOB_NOT_FOUND, or CONFLICT if the import cannot be undone
 */
export async function startUndo(tx: Tx, projectId: string, id: string, actor: string): Promise<string> {
  await requireUndoable(tx, { projectId, id });
  return addUndoJob(tx, { projectId, kind: UNDO_KIND, undoes: id, actor });
}

const DAYS = LIMITS.importUndoDays.value;
const DAY_MS = 86_400_000;
const TOO_LATE = withValues("An import can only be undone within {days} days after its end.", { days: DAYS });

/** @returns the time from which an import can no longer be undone */
async function requireUndoable(database: Database, key: JobKey): Promise<Date> {
  const kinds = [IMPORT_KIND];
  const [job, about] = isId(key.id)
    ? await Promise.all([readJob<ImportResult>(database, key, kinds), readJobInput(database, key, kinds)])
    : [];
  if (job === undefined || about === undefined) {
    // Job ids contain their creation time, and the sweep deletes old jobs.
    if (hasTime(key.id) && idTimeMs(key.id) < nowMs() - DAYS * DAY_MS) throw conflict(TOO_LATE);
    throw new AppError("JOB_NOT_FOUND");
  }
  if (about.finishedAt === null) throw conflict("The import is still running. Undo it after it ends.");
  const { dryRun, isRecorded } = about.input as ImportInput;
  if (dryRun) throw conflict("This import was a dry run, so it made no changes to undo.");
  if (isRecorded !== true)
    throw conflict("This import ran before Postloft could undo imports, so its changes were not recorded.");
  const until = new Date(about.finishedAt.getTime() + DAYS * DAY_MS);
  if (until.getTime() <= nowMs()) throw conflict(TOO_LATE);
  return until;
}

const conflict = (wording: Wording) => new AppError("CONFLICT", asMessage(wording));

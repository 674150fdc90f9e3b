// Job kinds of this folder, by name.
import type { JobStep } from "../platform/background/jobs.ts";
import { BULK_KIND } from "./bulk/bulk-changes.ts";
import { stepOfBulk } from "./bulk/change-contacts.ts";
import { stepOfFieldDeletion } from "./fields/delete-field.ts";
import { createImportStep, IMPORT_KIND, type ImportConsequences } from "./import/import-contacts.ts";
import { UNDO_KIND, type UndoContext } from "./import/undo-import.ts";
import { stepOfUndo } from "./import/undo-step.ts";
import { FIELD_KIND } from "./shown-data-queries.ts";

export function contactJobs(context: UndoContext, consequences: ImportConsequences): Record<string, JobStep> {
  return {
    [IMPORT_KIND]: createImportStep(consequences),
    [UNDO_KIND]: stepOfUndo(context),
    [BULK_KIND]: (tx, job) => stepOfBulk(tx, job, { dependents: context.dependents, segments: consequences }),
    [FIELD_KIND]: stepOfFieldDeletion,
  };
}

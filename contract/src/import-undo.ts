// Undoing an import of contacts: its preview and its job (docs/decisions/0103-undo-an-import.md).
import { z } from "zod";
import { getImport, getImportErrors, importContacts, listImports } from "./contact-import.ts";
import { endpoint } from "./endpoint.ts";
import { instant } from "./field.ts";
import { byJobId, jobResponse, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";

export const undoCounts = z.object({
  removedCount: z
    .int()
    .describe("Contacts created by the import. They are deleted, regardless of later changes."),
  removedWithEmailCount: z.int().describe("Deleted contacts that received email. Campaign reports keep it."),
  removedWithActivityCount: z
    .int()
    .describe("Deleted contacts that changed or had an event since the import."),
  restoredCount: z.int().describe("Contacts with at least one restored value of `data`."),
  keptCount: z
    .int()
    .describe("Contacts that keep at least one value of `data`, because it changed again since the import."),
  subscriptionRestoredCount: z
    .int()
    .describe("Contacts with a subscription that was changed by the import and is restored."),
  subscriptionKeptCount: z
    .int()
    .describe(
      "Contacts that keep their subscription, because it changed again or the address is suppressed.",
    ),
  segmentRemovedCount: z
    .int()
    .describe("Contacts that existed before the import and are removed from its segment."),
});
export type UndoCounts = z.output<typeof undoCounts>;

const DAYS = LIMITS.importUndoDays.value;

export const importUndo = z.object({
  until: instant.describe("The time until which the import can be undone."),
  counts: undoCounts.nullable().describe("The effect of undoing it now; null once it was requested."),
  job: jobResponse(undoCounts)
    .nullable()
    .describe("The job that undoes the import; null before it was requested."),
});

export const getImportUndo = endpoint({
  name: "contacts.getImportUndo",
  method: "GET",
  path: "/contacts/import/:jobId/undo",
  summary: "Preview undoing an import, or read its progress",
  description: `An import can be undone for ${DAYS} days after its end. Created contacts are deleted, and changed values are restored unless they changed again. Addresses that the import added to the suppression list stay there.`,
  caller: "project",
  params: byJobId,
  responses: {
    200: importUndo,
  },
  errors: ["JOB_NOT_FOUND", "CONFLICT"],
});

export const undoImport = endpoint({
  name: "contacts.undoImport",
  method: "POST",
  path: "/contacts/import/:jobId/undo",
  summary: "Undo an import",
  description: `Queued; \`GET /contacts/import/:jobId/undo\` returns the progress and result. Read the counts there first. An undo never subscribes a contact who left after the import, and it starts no workflow on \`contact.subscribed\`. Returns 409 while the import runs, if it was already undone, or ${DAYS} days after its end. A file sent in parts is undone part by part, starting with the last one.`,
  caller: "project",
  params: byJobId,
  responses: { 202: queuedJob },
  errors: ["JOB_NOT_FOUND", "CONFLICT"],
});

export const IMPORT_ENDPOINTS = [
  importContacts,
  listImports,
  getImport,
  getImportErrors,
  getImportUndo,
  undoImport,
] as const;

// Undoing an import of contacts: what it would do, and the job that does it (docs/decisions/0103-undo-an-import.md).
import { z } from "zod";
import { getImport, getImportErrors, importContacts } from "./contact-import.ts";
import { endpoint } from "./endpoint.ts";
import { instant } from "./field.ts";
import { byJobId, jobAnswer, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";

export const undoCounts = z.object({
  removedCount: z
    .int()
    .describe("Contacts that the import created. They are deleted, whatever happened since."),
  removedWithEmailCount: z
    .int()
    .describe("Of these, contacts that received email. Campaign reports keep it."),
  removedWithActivityCount: z
    .int()
    .describe("Of these, contacts that changed since the import, or to whom an event happened."),
  restoredCount: z.int().describe("Contacts that get at least one previous value of `data` back."),
  keptCount: z
    .int()
    .describe("Contacts that keep at least one value of `data`, because it changed again since the import."),
  subscriptionRestoredCount: z
    .int()
    .describe("Contacts that the import subscribed or unsubscribed, and that become again what they were."),
  subscriptionKeptCount: z
    .int()
    .describe("Contacts whose subscription stays, because it changed again or the address is suppressed."),
  segmentRemovedCount: z
    .int()
    .describe("Contacts that existed before the import and leave the segment to which it added them."),
});
export type UndoCounts = z.output<typeof undoCounts>;

const DAYS = LIMITS.importUndoDays.value;

export const getImportUndo = endpoint({
  name: "contacts.getImportUndo",
  method: "GET",
  path: "/contacts/import/:jobId/undo",
  summary: "Show what undoing an import would do, or how far it is",
  description: `An import can be undone for ${DAYS} days after its end. Created contacts are deleted, and changed values are restored unless they changed again. Addresses that the import put on the suppression list stay there.`,
  caller: "project",
  params: byJobId,
  answers: {
    200: z.object({
      until: instant.describe("When the import can no longer be undone."),
      counts: undoCounts.nullable().describe("What undoing would do now; null once it was asked for."),
      job: jobAnswer(undoCounts).nullable().describe("The job that undoes the import; null until then."),
    }),
  },
  errors: ["JOB_NOT_FOUND", "CONFLICT"],
});

export const undoImport = endpoint({
  name: "contacts.undoImport",
  method: "POST",
  path: "/contacts/import/:jobId/undo",
  summary: "Undo an import",
  description: `Queued: \`GET /contacts/import/:jobId/undo\` returns how far it is and what came of it. Read the counts there first. An undo never subscribes a contact who left after the import, and it starts no workflow on \`contact.subscribed\`. Answers 409 while the import runs, when it was undone already, and ${DAYS} days after its end. A file that was sent in parts is undone part by part, the last one first.`,
  caller: "project",
  params: byJobId,
  answers: { 202: queuedJob },
  errors: ["JOB_NOT_FOUND", "CONFLICT"],
});

/** All endpoints of imports, in the order of the documentation. */
export const IMPORT_ENDPOINTS = [
  importContacts,
  getImport,
  getImportErrors,
  getImportUndo,
  undoImport,
] as const;

// Contacts as files: CSV in, CSV out, and all we hold on one person (spec §4.4, §8; decisions §3).
// Before it: field.ts, job.ts. After it: server/src/contacts/import/routes.ts answers these.
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { consentChange, contact } from "./contacts.ts";
import { wholeEmail } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { event } from "./events.ts";
import { id, instant, pathId, queryBoolean, uploadedFile } from "./field.ts";
import { contactExecution } from "./executions.ts";
import { filterText } from "./filters.ts";
import { byJobId, jobAnswer, queuedJob } from "./job.ts";
import { LIMITS } from "./limits.ts";
import { rowFault } from "./row-faults.ts";

export const importResult = z.object({
  totalRows: z.int().describe("Rows below the header that say anything: created + updated + failed."),
  successCount: z.int(),
  createdCount: z.int(),
  updatedCount: z.int().describe("Rows for contacts that were there, whether or not anything changed."),
  failureCount: z.int(),
  errors: z
    .array(
      z.object({
        row: z.int().describe("Counted as a spreadsheet does: the header is row 1."),
        email: z.string().describe("As it is written in the file."),
        error: z.string(),
        errorParts: z
          .array(rowFault)
          .optional()
          .describe(`${IN_PARTS} Left out of imports of former versions.`),
      }),
    )
    .describe(`The first ${LIMITS.importErrors.value}.`),
  ignoredColumns: z.array(z.string()).describe("Columns that are the service's own, such as `createdAt`."),
  dryRun: z.boolean(),
});
export type ImportResult = z.output<typeof importResult>;

export const importContacts = endpoint({
  name: "contacts.import",
  method: "POST",
  path: "/contacts/import",
  summary: "Create and update contacts from a CSV file",
  description:
    "The first column must be `email`. A column `subscribed` is read as true (`true`, `1`, `yes`, `y`) or false (`false`, `0`, `no`, `n`), in any case; where it is empty, or missing, contacts keep their state and new ones are subscribed, unless the address opted out. An import never subscribes a contact that is unsubscribed. " +
    "Every other column is a key of `data`, with or without `data.` before its name: `true`, `false`, numbers of at most 15 digits without a leading zero, and JSON objects and arrays become what they are, everything else is text, and so is what follows an apostrophe (`'42`). Empty cells change nothing. " +
    "Commas, semicolons or tabs may separate; UTF-8, or UTF-16 with its byte order mark. A row with a fault is left out and reported, the others are taken.",
  caller: "project",
  query: z.object({
    dryRun: queryBoolean("Reports what would be done, and changes nothing.").optional(),
  }),
  body: z.object({
    file: uploadedFile.describe(`The CSV file, at most ${LIMITS.importFileBytes.value / 1024 / 1024} MB.`),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.importBodyBytes.value,
  answers: { 202: queuedJob },
});

export const getImport = endpoint({
  name: "contacts.getImport",
  method: "GET",
  path: "/contacts/import/:jobId",
  summary: "Ask how far an import is, and what came of it",
  description:
    "Ask until `state` is `completed` or `failed`; `result` then holds the counts and the first errors, and `errors.csv` beside it all of them.",
  caller: "project",
  params: byJobId,
  answers: { 200: jobAnswer(importResult) },
  errors: ["JOB_NOT_FOUND"],
});

export const getImportErrors = endpoint({
  name: "contacts.getImportErrors",
  method: "GET",
  path: "/contacts/import/:jobId/errors.csv",
  summary: "All errors of an import as CSV",
  description: `The columns \`row\`, \`email\` and \`error\`; the first ${LIMITS.importErrorsKept.value} of an import. While it runs, those found so far.`,
  caller: "project",
  params: byJobId,
  envelope: "raw",
  contentType: "text/csv",
  answers: { 200: z.string() },
  errors: ["JOB_NOT_FOUND"],
});

export const exportContacts = endpoint({
  name: "contacts.exportAll",
  method: "GET",
  path: "/contacts/export.csv",
  summary: "Contacts as CSV, oldest first",
  description:
    "The columns `email`, `subscribed`, `createdAt`, then every key of `data` that occurs; `POST /contacts/import` reads the file back. A text that a spreadsheet could take for a formula, or an import for a number, has an apostrophe before it.",
  caller: "project",
  query: z.object({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the address, in any case."),
    subscribed: queryBoolean("Only those that are, or are not, subscribed.").optional(),
    segmentId: id.optional().describe("Only members of this segment."),
    filters: filterText.optional(),
  }),
  envelope: "raw",
  contentType: "text/csv",
  answers: { 200: z.string() },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const exportContact = endpoint({
  name: "contacts.export",
  method: "GET",
  path: "/contacts/:id/export",
  summary: "All we hold on one contact",
  description: "What `DELETE /contacts/:id` would take away, with the mails as they stand in the books.",
  caller: "project",
  params: z.object({ id: pathId }),
  answers: {
    200: z.object({
      contact,
      consent: z.array(consentChange),
      segments: z.array(z.object({ id: z.uuid(), name: z.string(), since: instant })),
      executions: z.array(contactExecution).describe("Of workflows, oldest first."),
      events: z.array(event),
      emails: z.array(
        wholeEmail.extend({
          variables: z.record(z.string(), z.unknown()).describe("What the call lent to this mail alone."),
        }),
      ),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});

// Contacts as files: CSV in, CSV out, and all we hold on one person (spec §4.4, §8; decisions §3).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { consentChange, contact } from "./contacts.ts";
import { wholeEmail } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { event } from "./events.ts";
import { id, instant, jsonPart, pathId, queryBoolean, queryInteger, uploadedFile } from "./field.ts";
import { contactExecution } from "./executions.ts";
import { COLUMN_TARGETS, givenMapping, mappedColumn, type GivenColumn } from "./contact-file/mapping.ts";
import { importWarning } from "./contact-file/warnings.ts";
import { filterText } from "./filters.ts";
import { byJobId, jobAnswer, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";
import { rowFault } from "./row-faults.ts";

const OF_THIS_VERSION = "Left out of imports of former versions.";

export const importResult = z.object({
  totalRows: z
    .int()
    .describe("Rows below the header that say anything: created + updated + failed + skipped."),
  successCount: z.int(),
  createdCount: z.int(),
  updatedCount: z.int().describe("Rows for contacts that were there, whether or not anything changed."),
  failureCount: z.int(),
  subscribedCount: z
    .int()
    .optional()
    .describe(
      `Rows that say subscribed, or say nothing, which subscribes new contacts only. ${OF_THIS_VERSION}`,
    ),
  unsubscribedCount: z.int().optional().describe(`Rows that say unsubscribed. ${OF_THIS_VERSION}`),
  suppressedCount: z
    .int()
    .optional()
    .describe(`Rows whose contacts were unsubscribed and put on the suppression list. ${OF_THIS_VERSION}`),
  skippedCount: z.int().optional().describe(`Rows whose status is mapped to skip. ${OF_THIS_VERSION}`),
  keptUnsubscribedCount: z
    .int()
    .optional()
    .describe(
      `Rows that say subscribed for a contact who had unsubscribed and was kept unsubscribed. ${OF_THIS_VERSION}`,
    ),
  segmentAddedCount: z
    .int()
    .optional()
    .describe(`Contacts that were added to the segment and were not in it. ${OF_THIS_VERSION}`),
  mapping: z
    .array(mappedColumn)
    .optional()
    .describe(`What each column became. It can be sent as \`mapping\` after changes. ${OF_THIS_VERSION}`),
  warnings: z.array(importWarning).optional().describe(`What a person should check. ${OF_THIS_VERSION}`),
  noteCount: z.int().optional().describe(`Cells that were cleaned. ${OF_THIS_VERSION}`),
  notes: z
    .array(
      z.object({
        row: z.int(),
        column: z.string(),
        code: z.enum(["address.cleaned"]),
        cell: z.string().describe("As it is in the file."),
        value: z.string().describe("As it was imported."),
      }),
    )
    .optional()
    .describe(`The first ${LIMITS.importNotes.value} cleaned cells. ${OF_THIS_VERSION}`),
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
    "The email column is found by its name in the exports of most services (`email`, `Email Address`, `Adresse e-mail`), or because it is the only column of addresses. " +
    "A column with the subscription status is found by its name and its words (`status`, `unsubscribed`, `Accepts Marketing`, `UNSUB_TIME`): people who left are imported as unsubscribed, and addresses that bounced or complained also go to the suppression list. " +
    "A column `subscribed` is read as true or false in the usual words; where it is empty, or the file has no status, contacts keep their state and new ones are subscribed, unless the address opted out. " +
    "An import never resubscribes a contact who is unsubscribed, unless `resubscribe` is true. If two columns contradict each other, the stricter one is used. A row with an unknown status is an error. " +
    "Every other column is a key of `data`, with or without `data.` before its name. A header that works as a name in templates stays as it is; any other becomes a key in camelCase (`First Name` is `firstName`), unless the project already has the field. " +
    "`true`, `false`, numbers of at most 15 digits without a leading zero, ISO dates, and JSON objects and arrays become what they are, everything else is text, and so is what follows an apostrophe (`'42`). Empty cells, `NULL` and `N/A` change nothing. " +
    "`mapping` decides single columns; a dry run returns the mapping that it would use. " +
    "Commas, semicolons, tabs or bars may separate, also named by a line such as `sep=;`; UTF-8, UTF-16 with its byte order mark, or Windows-1252. A ZIP archive of CSV files, such as Mailchimp's, is read as one file. A row with a fault is left out and reported, the others are taken.",
  caller: "project",
  query: z.object({
    dryRun: queryBoolean("Reports what would be done, and changes nothing.").optional(),
    resubscribe: queryBoolean(
      "Subscribes contacts who unsubscribed, if their row says subscribed.",
    ).optional(),
    segmentId: id.optional().describe("Adds all imported contacts to this static segment."),
    decimal: z
      .enum(["point", "comma"])
      .optional()
      .describe("The decimal sign of numbers: `comma` reads `12,50` as 12.5."),
    rowOffset: queryInteger(
      0,
      1_000_000_000,
      "For a part of a larger file: rows of that file before this part, so that rows are reported by their number there.",
    ).optional(),
  }),
  body: z.object({
    file: uploadedFile.describe(
      `The CSV file or ZIP archive, at most ${LIMITS.importFileBytes.value / 1024 / 1024} MB, also unpacked.`,
    ),
    mapping: jsonPart<GivenColumn[]>(givenMapping, {
      type: "array",
      items: {
        type: "object",
        required: ["column", "target"],
        properties: {
          column: { type: ["string", "integer"] },
          target: { type: "string", enum: [...COLUMN_TARGETS] },
        },
      },
    })
      .optional()
      .describe(
        "JSON, an item for each column to decide: `{ column, target, field?, type?, dateFormat?, values? }`, as `mapping` of the result names them. Columns that are not named are mapped automatically.",
      ),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.importBodyBytes.value,
  errors: ["SEGMENT_NOT_FOUND"],
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
  description: `The rows as they are in the file, with \`import_row\` and \`import_error\` as the last columns. Correct them and import the file again; both columns are ignored. The first ${LIMITS.importErrorsKept.value} of an import; while it runs, those found so far.`,
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

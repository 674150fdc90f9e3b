// Contact files: CSV import, CSV export and the export of one person's data (spec §4.4, §8; decisions §3).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { consentChange, contact } from "./contacts.ts";
import { fullEmail } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { event } from "./events.ts";
import {
  cursorList,
  id,
  instant,
  jsonPart,
  pageQuery,
  pathId,
  queryBoolean,
  queryInteger,
  uploadedFile,
} from "./field.ts";
import { contactExecution } from "./executions.ts";
import { COLUMN_TARGETS, givenMapping, mappedColumn, type GivenColumn } from "./contact-file/mapping.ts";
import { importWarning } from "./contact-file/warnings.ts";
import { filterText } from "./filters.ts";
import { byJobId, JOB_STATES, jobResponse, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";
import { receivedEmail } from "./received-emails.ts";
import { rowFault } from "./row-faults.ts";

const OF_THIS_VERSION = "Missing in imports by earlier versions.";

export const importResult = z.object({
  totalRows: z.int().describe("Rows with content below the header: created + updated + failed + skipped."),
  successCount: z.int(),
  createdCount: z.int(),
  updatedCount: z.int().describe("Rows for existing contacts, even if nothing changed."),
  failureCount: z.int(),
  subscribedCount: z
    .int()
    .optional()
    .describe(
      `Rows with the status subscribed, or without a status, which subscribes new contacts only. ${OF_THIS_VERSION}`,
    ),
  unsubscribedCount: z.int().optional().describe(`Rows with the status unsubscribed. ${OF_THIS_VERSION}`),
  suppressedCount: z
    .int()
    .optional()
    .describe(
      `Rows with contacts that were unsubscribed and added to the suppression list. ${OF_THIS_VERSION}`,
    ),
  skippedCount: z.int().optional().describe(`Rows with a status that is mapped to skip. ${OF_THIS_VERSION}`),
  keptUnsubscribedCount: z
    .int()
    .optional()
    .describe(
      `Rows with the status subscribed for contacts who stay unsubscribed because they unsubscribed earlier. ${OF_THIS_VERSION}`,
    ),
  segmentAddedCount: z.int().optional().describe(`Contacts newly added to the segment. ${OF_THIS_VERSION}`),
  mapping: z
    .array(mappedColumn)
    .optional()
    .describe(`The mapping of each column. You can change it and send it as \`mapping\`. ${OF_THIS_VERSION}`),
  warnings: z.array(importWarning).optional().describe(`Issues to check. ${OF_THIS_VERSION}`),
  noteCount: z.int().optional().describe(`Cells that were cleaned. ${OF_THIS_VERSION}`),
  notes: z
    .array(
      z.object({
        row: z.int(),
        column: z.string(),
        code: z.enum(["address.cleaned"]),
        cell: z.string().describe("The original cell."),
        value: z.string().describe("The imported value."),
      }),
    )
    .optional()
    .describe(`The first ${LIMITS.importNotes.value} cleaned cells. ${OF_THIS_VERSION}`),
  errors: z
    .array(
      z.object({
        row: z.int().describe("Numbered as in a spreadsheet: the header is row 1."),
        email: z.string().describe("The address as written in the file."),
        error: z.string(),
        errorParts: z
          .array(rowFault)
          .optional()
          .describe(`${IN_PARTS} Missing in imports by earlier versions.`),
      }),
    )
    .describe(`The first ${LIMITS.importErrors.value}.`),
  ignoredColumns: z.array(z.string()).describe("Columns that belong to the service, such as `createdAt`."),
  dryRun: z.boolean(),
});
export type ImportResult = z.output<typeof importResult>;

export const importContacts = endpoint({
  name: "contacts.import",
  method: "POST",
  path: "/contacts/import",
  summary: "Create and update contacts from a CSV file",
  description:
    "The email column is detected by its name in the exports of most services (`email`, `Email Address`, `Adresse e-mail`), or as the only column of addresses. " +
    "The subscription status column is detected by its name and its words (`status`, `unsubscribed`, `Accepts Marketing`, `UNSUB_TIME`). Contacts who left are imported as unsubscribed, and addresses that bounced or complained are also added to the suppression list. " +
    "The column `subscribed` accepts the usual words for true and false. If it is empty, or the file has no status, existing contacts keep their status and new ones are subscribed, unless the address opted out. " +
    "An import never resubscribes an unsubscribed contact unless `resubscribe` is true. If two columns contradict each other, the stricter one wins. A row with an unknown status is an error. " +
    "Every other column becomes a key of `data`; `data.` before its name is optional. A header that works as a name in templates stays unchanged. Any other becomes a key in camelCase (`First Name` is `firstName`), unless the project already has the field. " +
    "`true`, `false`, numbers of up to 15 digits without a leading zero, ISO dates, and JSON objects and arrays are converted. Everything else is text, as is any cell after an apostrophe (`'42`). Empty cells, `NULL` and `N/A` change nothing. " +
    "`mapping` overrides single columns; a dry run returns the mapping it would use. " +
    "The separator can be a comma, semicolon, tab or bar, or set by a line such as `sep=;`. The encoding can be UTF-8, UTF-16 with a byte order mark, or Windows-1252. A ZIP archive of CSV files, such as Mailchimp's, is read as one file. Invalid rows are skipped and reported while the others are imported.",
  caller: "project",
  query: z.object({
    dryRun: queryBoolean("Reports the result without changing anything.").optional(),
    resubscribe: queryBoolean(
      "Subscribes contacts who unsubscribed earlier if their row has the status subscribed.",
    ).optional(),
    segmentId: id.optional().describe("Adds all imported contacts to this static segment."),
    decimal: z
      .enum(["point", "comma"])
      .optional()
      .describe("The decimal sign of numbers: `comma` reads `12,50` as 12.5."),
    rowOffset: queryInteger(
      0,
      1_000_000_000,
      "For a part of a larger file, the number of rows before this part, so that errors use the row numbers of the whole file.",
    ).optional(),
  }),
  body: z.object({
    file: uploadedFile.describe(
      `The CSV file or ZIP archive, up to ${LIMITS.importFileBytes.value / 1024 / 1024} MB, also after unpacking.`,
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
        "A JSON array with an item for each column to override: `{ column, target, field?, type?, dateFormat?, values? }`, as in `mapping` of the result. All other columns are mapped automatically.",
      ),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.importBodyBytes.value,
  errors: ["SEGMENT_NOT_FOUND"],
  responses: { 202: queuedJob },
});

const listedImport = z.object({
  jobId: z.uuid(),
  state: z.enum(JOB_STATES),
  createdCount: z.int().nullable().describe("null until the import is completed, like the other counts."),
  updatedCount: z.int().nullable(),
  failureCount: z.int().nullable(),
  isUndone: z.boolean().describe("Whether it was undone. An undo that still runs doesn't count."),
  createdAt: instant,
  finishedAt: instant.nullable(),
});

export const listImports = endpoint({
  name: "contacts.listImports",
  method: "GET",
  path: "/contacts/import",
  summary: "List imports of contacts, newest first",
  description:
    "Contains the imports that ended in the last 30 days, which is how long they can be undone, and those that still run. Dry runs are left out. Each part of a larger file is an import of its own.",
  caller: "project",
  query: pageQuery,
  responses: { 200: cursorList(listedImport).omit({ total: true }) },
});

export const getImport = endpoint({
  name: "contacts.getImport",
  method: "GET",
  path: "/contacts/import/:jobId",
  summary: "Read the progress and result of an import",
  description:
    "Poll until `state` is `completed` or `failed`. `result` then contains the counts and the first errors, and `errors.csv` contains all errors.",
  caller: "project",
  params: byJobId,
  responses: { 200: jobResponse(importResult) },
  errors: ["JOB_NOT_FOUND"],
});

export const getImportErrors = endpoint({
  name: "contacts.getImportErrors",
  method: "GET",
  path: "/contacts/import/:jobId/errors.csv",
  summary: "Download all errors of an import as CSV",
  description: `The original rows, with \`import_row\` and \`import_error\` as the last columns. Correct them and import the file again; both columns are ignored. Contains the first ${LIMITS.importErrorsKept.value} errors of an import; while it runs, the errors found until now.`,
  caller: "project",
  params: byJobId,
  envelope: "raw",
  contentType: "text/csv",
  responses: { 200: z.string() },
  errors: ["JOB_NOT_FOUND"],
});

export const exportContacts = endpoint({
  name: "contacts.exportAll",
  method: "GET",
  path: "/contacts/export.csv",
  summary: "Export contacts as CSV, oldest first",
  description:
    "Contains `email`, `subscribed`, `createdAt` and every key of `data`; `POST /contacts/import` can read the file back. An apostrophe precedes a text that a spreadsheet could read as a formula, or an import as a number.",
  caller: "project",
  query: z.object({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the address, case-insensitive."),
    subscribed: queryBoolean("Only contacts with this subscription status.").optional(),
    segmentId: id.optional().describe("Only members of this segment."),
    filters: filterText.optional(),
  }),
  envelope: "raw",
  contentType: "text/csv",
  responses: { 200: z.string() },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const exportContact = endpoint({
  name: "contacts.export",
  method: "GET",
  path: "/contacts/:id/export",
  summary: "Export all data of one contact",
  description: "All data that `DELETE /contacts/:id` would delete, with the contact's emails.",
  caller: "project",
  params: z.object({ id: pathId }),
  responses: {
    200: z.object({
      contact,
      consent: z.array(consentChange),
      segments: z.array(z.object({ id: z.uuid(), name: z.string(), since: instant })),
      executions: z.array(contactExecution).describe("Workflow executions, oldest first."),
      events: z.array(event),
      emails: z.array(
        fullEmail.extend({
          variables: z
            .record(z.string(), z.unknown())
            .describe("Variables that the call set for this email only."),
        }),
      ),
      receivedEmails: z
        .array(receivedEmail.extend({ raw: z.string().describe("The message as it arrived, in base64.") }))
        .describe("Emails that the contact wrote, newest first."),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});

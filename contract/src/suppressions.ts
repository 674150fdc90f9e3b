// The suppression list of a project: addresses that get no email, with the reason (decisions §12; docs/decisions/0045-suppression-list.md).
import { z } from "zod";
import { importResult } from "./contact-import.ts";
import { endpoint } from "./endpoint.ts";
import { cursorList, emailAddress, instant, pageQuery, pathText, uploadedFile } from "./field.ts";
import { byJobId, jobResponse, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";

/** Strongest first, because a stronger reason replaces a weaker one. */
export const SUPPRESSION_REASONS = ["COMPLAINT", "HARD_BOUNCE", "MANUAL", "IMPORT"] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export const suppression = z.object({
  id: z.uuid(),
  email: z.string(),
  reason: z.enum(SUPPRESSION_REASONS),
  emailId: z.uuid().nullable().describe("The email that bounced or was reported as spam."),
  actor: z
    .string()
    .nullable()
    .describe("The author of the entry: the id of a user, or `key`; null for mail servers."),
  createdAt: instant,
});

const filter = {
  search: z
    .string()
    .max(LIMITS.searchLength.value)
    .optional()
    .describe("A part of the address, case-insensitive."),
  reason: z.enum(SUPPRESSION_REASONS).optional(),
};

const byAddress = z.object({ address: pathText });

export const listSuppressions = endpoint({
  name: "suppressions.list",
  method: "GET",
  path: "/suppressions",
  summary: "List suppressed addresses, newest first",
  description:
    "Hard bounces and complaints are added automatically, whether or not the project checks the list (`suppressionList` of the project).",
  caller: "project",
  query: pageQuery.extend(filter),
  responses: { 200: cursorList(suppression) },
});

export const addSuppressions = endpoint({
  name: "suppressions.add",
  method: "POST",
  path: "/suppressions",
  summary: "Add addresses to the suppression list",
  description:
    "One request adds up to " +
    `${LIMITS.suppressionsAtOnce.value} addresses; use \`POST /suppressions/import\` for longer lists. An address that is listed for a bounce or complaint keeps that reason.`,
  caller: "project",
  body: z.object({ emails: z.array(emailAddress).min(1).max(LIMITS.suppressionsAtOnce.value) }),
  responses: {
    200: z.object({ added: z.int(), known: z.int().describe("Addresses that were already listed.") }),
  },
});

export const importSuppressions = endpoint({
  name: "suppressions.import",
  method: "POST",
  path: "/suppressions/import",
  summary: "Add the addresses of a CSV file to the suppression list",
  description:
    "The address column is detected by its name or as the only column of addresses, as in a contact import. Files of SendGrid, Mailgun and Mailchimp work, as do lists without a header. Other columns are ignored. Invalid rows are skipped and reported while the others are imported.",
  caller: "project",
  body: z.object({
    file: uploadedFile.describe(`The CSV file, up to ${LIMITS.importFileBytes.value / 1024 / 1024} MB.`),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.importBodyBytes.value,
  responses: { 202: queuedJob },
});

export const getSuppressionImport = endpoint({
  name: "suppressions.getImport",
  method: "GET",
  path: "/suppressions/import/:jobId",
  summary: "Read the progress of a suppression import",
  description:
    "Poll until `state` is `completed` or `failed`; `result` then contains the counts and the first errors.",
  caller: "project",
  params: byJobId,
  responses: { 200: jobResponse(importResult) },
  errors: ["JOB_NOT_FOUND"],
});

export const exportSuppressions = endpoint({
  name: "suppressions.export",
  method: "GET",
  path: "/suppressions/export.csv",
  summary: "Export suppressed addresses as CSV, oldest first",
  description:
    "Contains `email`, `reason`, `emailId`, `actor` and `createdAt`; `POST /suppressions/import` can read the file back.",
  caller: "project",
  query: z.object(filter),
  envelope: "raw",
  contentType: "text/csv",
  responses: { 200: z.string() },
});

export const explainSuppression = endpoint({
  name: "suppressions.explain",
  method: "GET",
  path: "/suppressions/:address",
  summary: "Explain which emails an address gets",
  description:
    "Useful if a person got no email. Returns whether the address is listed, whether the project checks its list, and whether the contact is subscribed. Also works for unknown addresses.",
  caller: "project",
  params: byAddress,
  responses: {
    200: z.object({
      email: z.string(),
      suppression: suppression.nullable().describe("null if it is not listed."),
      suppressionList: z.boolean().describe("Whether the project checks its list."),
      contact: z.object({ id: z.uuid(), subscribed: z.boolean() }).nullable(),
      gets: z.object({
        transactional: z.boolean().describe("Transactional email, including campaigns of that kind."),
        lists: z.boolean().describe("Bulk email, for subscribed contacts only."),
      }),
      explanation: z.string().describe("An explanation for people."),
    }),
  },
  errors: ["SUPPRESSION_NOT_FOUND"],
});

export const removeSuppression = endpoint({
  name: "suppressions.remove",
  method: "DELETE",
  path: "/suppressions/:address",
  summary: "Remove an address from the suppression list",
  description:
    "An unsubscribed contact stays unsubscribed. The next bounce or complaint adds the address again. Skipped email is not sent afterwards.",
  caller: "project",
  params: byAddress,
  responses: { 204: null },
  errors: ["SUPPRESSION_NOT_FOUND"],
});

export const SUPPRESSION_ENDPOINTS = [
  listSuppressions,
  addSuppressions,
  importSuppressions,
  getSuppressionImport,
  exportSuppressions,
  explainSuppression,
  removeSuppression,
];

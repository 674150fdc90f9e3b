// The suppression list of a project: addresses that get nothing, and why (decisions §12; docs/decisions/0045-suppression-list.md).
import { z } from "zod";
import { importResult } from "./contact-import.ts";
import { endpoint } from "./endpoint.ts";
import { cursorList, emailAddress, instant, pageQuery, pathText, uploadedFile } from "./field.ts";
import { byJobId, jobAnswer, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";

/** The strongest first: a stronger reason takes the place of a weaker one. */
export const SUPPRESSION_REASONS = ["COMPLAINT", "HARD_BOUNCE", "MANUAL", "IMPORT"] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

const suppression = z.object({
  id: z.uuid(),
  email: z.string(),
  reason: z.enum(SUPPRESSION_REASONS),
  emailId: z.uuid().nullable().describe("The mail that bounced or was complained about."),
  actor: z
    .string()
    .nullable()
    .describe("Who put it there: the id of a user, or `key`; null for mail servers."),
  createdAt: instant,
});

const filter = {
  search: z
    .string()
    .max(LIMITS.searchLength.value)
    .optional()
    .describe("A part of the address, in any case."),
  reason: z.enum(SUPPRESSION_REASONS).optional(),
};

const byAddress = z.object({ address: pathText });

export const listSuppressions = endpoint({
  name: "suppressions.list",
  method: "GET",
  path: "/suppressions",
  summary: "List suppressed addresses, newest first",
  description:
    "Addresses that bounced for good or complained come by themselves, whether or not the project looks at the list (`suppressionList` of the project).",
  caller: "project",
  query: pageQuery.extend(filter),
  answers: { 200: cursorList(suppression) },
});

export const addSuppressions = endpoint({
  name: "suppressions.add",
  method: "POST",
  path: "/suppressions",
  summary: "Put addresses on the suppression list",
  description:
    "One request adds up to " +
    `${LIMITS.suppressionsAtOnce.value} addresses; longer lists go to \`POST /suppressions/import\`. An address that is listed for a bounce or a complaint keeps that reason.`,
  caller: "project",
  body: z.object({ emails: z.array(emailAddress).min(1).max(LIMITS.suppressionsAtOnce.value) }),
  answers: {
    200: z.object({ added: z.int(), known: z.int().describe("Addresses that were listed before.") }),
  },
});

export const importSuppressions = endpoint({
  name: "suppressions.import",
  method: "POST",
  path: "/suppressions/import",
  summary: "Put the addresses of a CSV file on the suppression list",
  description:
    "The column with the addresses is found by its name or because it is the only one of addresses, as in an import of contacts, so the files of SendGrid, Mailgun and Mailchimp work, and so does a list without a header. Other columns are ignored. Rows with a fault are left out and reported, the others are taken.",
  caller: "project",
  body: z.object({
    file: uploadedFile.describe(`The CSV file, at most ${LIMITS.importFileBytes.value / 1024 / 1024} MB.`),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.importBodyBytes.value,
  answers: { 202: queuedJob },
});

export const getSuppressionImport = endpoint({
  name: "suppressions.getImport",
  method: "GET",
  path: "/suppressions/import/:jobId",
  summary: "Ask how far an import of suppressed addresses is",
  description:
    "Ask until `state` is `completed` or `failed`; `result` then holds the counts and the first errors.",
  caller: "project",
  params: byJobId,
  answers: { 200: jobAnswer(importResult) },
  errors: ["JOB_NOT_FOUND"],
});

export const exportSuppressions = endpoint({
  name: "suppressions.export",
  method: "GET",
  path: "/suppressions/export.csv",
  summary: "Suppressed addresses as CSV, oldest first",
  description:
    "The columns `email`, `reason`, `emailId`, `actor` and `createdAt`; `POST /suppressions/import` takes the file.",
  caller: "project",
  query: z.object(filter),
  envelope: "raw",
  contentType: "text/csv",
  answers: { 200: z.string() },
});

export const explainSuppression = endpoint({
  name: "suppressions.explain",
  method: "GET",
  path: "/suppressions/:address",
  summary: "Say what an address gets, and why",
  description:
    "For somebody who got nothing: whether the address is listed, whether the project looks at its list, and whether its contact is subscribed. An address nobody knows gets an answer too.",
  caller: "project",
  params: byAddress,
  answers: {
    200: z.object({
      email: z.string(),
      suppression: suppression.nullable().describe("null: it is not listed."),
      suppressionList: z.boolean().describe("Whether the project looks at its list."),
      contact: z.object({ id: z.uuid(), subscribed: z.boolean() }).nullable(),
      gets: z.object({
        transactional: z.boolean().describe("Transactional mail, and campaigns of that kind."),
        lists: z.boolean().describe("Mail to lists: for subscribed contacts only."),
      }),
      explanation: z.string().describe("A sentence for a person."),
    }),
  },
  errors: ["SUPPRESSION_NOT_FOUND"],
});

export const removeSuppression = endpoint({
  name: "suppressions.remove",
  method: "DELETE",
  path: "/suppressions/:address",
  summary: "Take an address off the suppression list",
  description:
    "Its contact stays unsubscribed if it was. The next bounce or complaint puts the address back. Mail that was skipped is not sent afterwards.",
  caller: "project",
  params: byAddress,
  answers: { 204: null },
  errors: ["SUPPRESSION_NOT_FOUND"],
});

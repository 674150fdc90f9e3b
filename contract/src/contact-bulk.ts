// One change for many contacts at once (spec §4.4, §8; decisions §3).
// Before it: contacts.ts, job.ts. After it: server/src/contacts/bulk/routes.ts answers these.
import { z } from "zod";
import { contactConditions } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { id, issue } from "./field.ts";
import { byJobId, jobAnswer, queuedJob } from "./job.ts";
import { LIMITS } from "./limits.ts";

export const BULK_OPERATIONS = ["subscribe", "unsubscribe", "delete"] as const;
export type BulkOperation = (typeof BULK_OPERATIONS)[number];

/** Strict, unlike other bodies: a condition with a slip of the pen would otherwise mean everybody. */
const bulkFilter = z
  .strictObject(contactConditions)
  .describe("Who is meant, as `POST /contacts/search` lists them; `{}` means everybody.");

const whom = z
  .object({
    mode: z.enum(["ids", "query"]).optional().describe("`ids` unless `query` is said."),
    contactIds: z
      .array(id)
      .min(1)
      .max(LIMITS.bulkContacts.value)
      .optional()
      .describe("Whom to change. Required unless `mode` is `query`; each counts once."),
    filter: bulkFilter.optional().describe("Required when `mode` is `query`."),
    excludeIds: z
      .array(id)
      .max(LIMITS.bulkExcluded.value)
      .optional()
      .describe('With `mode: "query"`: who is left out.'),
  })
  .superRefine((body, context) => {
    const refuse = (field: string, code: "required" | "custom", message: string) =>
      context.addIssue(issue(message, code, body, [field]));
    if (body.mode === "query") {
      if (body.filter === undefined) refuse("filter", "required", 'Required with `mode: "query"`.');
      if (body.contactIds !== undefined)
        refuse("contactIds", "custom", 'Name contacts, or describe them with `mode: "query"`, not both.');
    } else {
      if (body.contactIds === undefined) refuse("contactIds", "required", "Required.");
      for (const field of ["filter", "excludeIds"] as const)
        if (body[field] !== undefined) refuse(field, "custom", 'Only with `mode: "query"`.');
    }
  });

const queued =
  'Queued: `GET /contacts/bulk/:jobId` tells how far it is and what came of it. With `mode: "query"` it means the contacts that match when the call is answered; whoever comes later is not touched.';

function bulk(operation: BulkOperation, summary: string, description: string) {
  return endpoint({
    name: `contacts.bulk${operation.charAt(0).toUpperCase()}${operation.slice(1)}`,
    method: "POST",
    path: `/contacts/bulk-${operation}`,
    summary,
    description: `${description} ${queued}`,
    caller: "project",
    body: whom,
    answers: { 202: queuedJob },
    errors: ["SEGMENT_NOT_FOUND"],
  });
}

export const bulkSubscribe = bulk(
  "subscribe",
  "Subscribe many contacts",
  "Whoever really changes gets the event `contact.subscribed`.",
);

export const bulkUnsubscribe = bulk(
  "unsubscribe",
  "Unsubscribe many contacts",
  "Whoever really changes gets the event `contact.unsubscribed`.",
);

export const bulkDelete = bulk(
  "delete",
  "Delete many contacts and what we hold on them",
  "As `DELETE /contacts/:id` does it.",
);

const bulkResult = z.object({
  operation: z.enum(BULK_OPERATIONS),
  totalRequested: z.int().describe("Each contact once: success + unchanged + failure."),
  successCount: z.int(),
  unchangedCount: z.int().describe("They were as they should be."),
  failureCount: z.int(),
  errors: z
    .array(
      z.object({
        contactId: z.uuid(),
        email: z.string().nullable().describe("Null for a contact that is not there."),
        error: z.string(),
      }),
    )
    .describe(`The first ${LIMITS.bulkErrors.value}.`),
});
export type BulkResult = z.output<typeof bulkResult>;

export const getBulk = endpoint({
  name: "contacts.getBulk",
  method: "GET",
  path: "/contacts/bulk/:jobId",
  summary: "Ask how far a bulk change is, and what came of it",
  description:
    "Ask until `state` is `completed` or `failed`; `result` then holds the counts and the first errors.",
  caller: "project",
  params: byJobId,
  answers: { 200: jobAnswer(bulkResult) },
  errors: ["JOB_NOT_FOUND"],
});

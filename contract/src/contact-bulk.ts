// One change for many contacts at once (spec §4.4, §8; decisions §3).
import { z } from "zod";
import { contactConditions } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { id, issue } from "./field.ts";
import { byJobId, jobAnswer, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";

export const BULK_OPERATIONS = ["subscribe", "unsubscribe", "delete"] as const;
export type BulkOperation = (typeof BULK_OPERATIONS)[number];

const everyone = z.literal(true);

const bulkFilter = z
  .object({ ...contactConditions, all: everyone.optional().describe("Everyone, without any condition.") })
  .describe(
    'Who is meant, as `POST /contacts/search` lists them. At least one condition, or `{"all": true}` for everyone.',
  );

/** Returns what is wrong with the conditions of a filter, because one that restricts nothing would change every contact. */
function faultOfConditions({ all, search = "", ...others }: z.output<typeof bulkFilter>): string | null {
  const isNarrow = search.trim() !== "" || Object.values(others).some((one) => one !== undefined);
  if (all === true)
    return isNarrow ? "`all` means everyone: leave it out, or leave the conditions out." : null;
  return isNarrow ? null : 'Name a condition. `{"all": true}` means everyone.';
}

const whom = z
  .object({
    mode: z.enum(["ids", "query"]).optional().describe("`ids` unless `query` is said."),
    contactIds: z
      .array(id)
      .min(1)
      .max(LIMITS.bulkContacts.value)
      .optional()
      .describe("Whom to change. Required unless `mode` is `query`; each counts once."),
    filter: bulkFilter.optional().describe("Required when `mode` is `query`, unless `all` is."),
    all: everyone
      .optional()
      .describe('Everyone. The same as `mode: "query"` with the filter `{"all": true}`.'),
    excludeIds: z
      .array(id)
      .max(LIMITS.bulkExcluded.value)
      .optional()
      .describe('With `mode: "query"`: who is left out.'),
  })
  .superRefine((body, context) => {
    const refuse = (field: string, code: "required" | "custom", message: string) =>
      context.addIssue(issue(message, code, body, [field]));
    if (body.mode === "query" || (body.all === true && body.mode === undefined)) {
      if (body.filter === undefined && body.all === undefined)
        refuse("filter", "required", 'Required with `mode: "query"`.');
      if (body.filter !== undefined && body.all === true)
        refuse("all", "custom", "Means everyone: leave it out, or leave `filter` out.");
      const fault = body.filter === undefined ? null : faultOfConditions(body.filter);
      if (fault !== null) refuse("filter", "custom", fault);
      if (body.contactIds !== undefined)
        refuse("contactIds", "custom", 'Name contacts, or describe them with `mode: "query"`, not both.');
    } else {
      if (body.contactIds === undefined) refuse("contactIds", "required", "Required.");
      for (const field of ["filter", "all", "excludeIds"] as const)
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
    unknownFields: "refused",
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

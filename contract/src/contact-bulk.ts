// Bulk changes of contacts (spec §4.4, §8; decisions §3).
import { z } from "zod";
import { contactConditions } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { contactData, id, issue } from "./field.ts";
import { byJobId, jobResponse, queuedJob } from "./job.ts";
import { LIMITS } from "./limits/limits.ts";

export const BULK_OPERATIONS = ["subscribe", "unsubscribe", "delete", "update", "addToSegment"] as const;
export type BulkOperation = (typeof BULK_OPERATIONS)[number];

const everyone = z.literal(true);

const bulkFilter = z
  .object({ ...contactConditions, all: everyone.optional().describe("Selects all contacts.") })
  .describe(
    'Selects contacts as `POST /contacts/search` does. Requires at least one condition, or `{"all": true}` for everyone.',
  );

/** Returns the fault of a filter's conditions, because a filter that restricts nothing would change every contact. */
function faultOfConditions({ all, search = "", ...others }: z.output<typeof bulkFilter>): string | null {
  const isNarrow = search.trim() !== "" || Object.values(others).some((one) => one !== undefined);
  if (all === true) return isNarrow ? "`all` selects everyone. Remove it or the other conditions." : null;
  return isNarrow ? null : 'Add a condition. `{"all": true}` selects everyone.';
}

const selectionFields = {
  mode: z.enum(["ids", "query"]).optional().describe("Default: `query` with `all`, otherwise `ids`."),
  contactIds: z
    .array(id)
    .min(1)
    .max(LIMITS.bulkContacts.value)
    .optional()
    .describe("Contacts to change. Required unless `mode` is `query`; duplicates count once."),
  filter: bulkFilter.optional().describe("Required if `mode` is `query`, unless `all` is set."),
  all: everyone
    .optional()
    .describe('Selects everyone. Same as `mode: "query"` with the filter `{"all": true}`.'),
  excludeIds: z
    .array(id)
    .max(LIMITS.bulkExcluded.value)
    .optional()
    .describe('Contacts to leave out, with `mode: "query"`.'),
};
type SelectionBody = z.output<z.ZodObject<typeof selectionFields>>;

/** Checks that a body selects contacts in one way. */
function checkSelection(body: SelectionBody, context: z.RefinementCtx): void {
  const refuse = (field: string, code: "required" | "custom", message: string) =>
    context.addIssue(issue(message, code, body, [field]));
  if (body.mode === "query" || (body.all === true && body.mode === undefined)) {
    if (body.filter === undefined && body.all === undefined)
      refuse("filter", "required", 'Required with `mode: "query"`.');
    if (body.filter !== undefined && body.all === true)
      refuse("all", "custom", "Selects everyone. Remove it or remove `filter`.");
    const fault = body.filter === undefined ? null : faultOfConditions(body.filter);
    if (fault !== null) refuse("filter", "custom", fault);
    if (body.contactIds !== undefined)
      refuse("contactIds", "custom", 'Send contact ids or use `mode: "query"`, not both.');
  } else {
    if (body.contactIds === undefined) refuse("contactIds", "required", "Required.");
    for (const field of ["filter", "all", "excludeIds"] as const)
      if (body[field] !== undefined) refuse(field, "custom", 'Only with `mode: "query"`.');
  }
}

const queued =
  'Queued; `GET /contacts/bulk/:jobId` returns the progress and result. `mode: "query"` selects the contacts that match at the time of the call, not later ones.';

type Described = Record<"path" | "summary" | "description", string>;

function bulk<Body extends z.ZodType>(
  operation: BulkOperation,
  { path, summary, description }: Described,
  { body, errors = [] }: { body: Body; errors?: readonly "CONFLICT"[] },
) {
  return endpoint({
    name: `contacts.bulk${operation.charAt(0).toUpperCase()}${operation.slice(1)}`,
    method: "POST",
    path,
    summary,
    description: `${description} ${queued}`,
    caller: "project",
    body,
    unknownFields: "refused",
    responses: { 202: queuedJob },
    errors: ["SEGMENT_NOT_FOUND", ...errors],
  });
}

const selection = z.object(selectionFields).superRefine(checkSelection);

export const bulkSubscribe = bulk(
  "subscribe",
  {
    path: "/contacts/bulk-subscribe",
    summary: "Subscribe many contacts",
    description: "Each contact that changes gets the event `contact.subscribed`.",
  },
  { body: selection },
);

export const bulkUnsubscribe = bulk(
  "unsubscribe",
  {
    path: "/contacts/bulk-unsubscribe",
    summary: "Unsubscribe many contacts",
    description: "Each contact that changes gets the event `contact.unsubscribed`.",
  },
  { body: selection },
);

export const bulkDelete = bulk(
  "delete",
  {
    path: "/contacts/bulk-delete",
    summary: "Delete many contacts and their data",
    description: "Same as `DELETE /contacts/:id` for each contact.",
  },
  { body: selection },
);

export const bulkUpdate = bulk(
  "update",
  {
    path: "/contacts/bulk-update",
    summary: "Set fields of many contacts",
    description:
      "Same as `data` of `PATCH /contacts/:id` for each contact. A contact whose data would be too large fails, and the others change.",
  },
  {
    body: z
      .object({
        ...selectionFields,
        data: contactData.describe(
          "Fields to set. `null` removes a field. Requires at least one change, so `{}` and empty texts alone are refused.",
        ),
      })
      .superRefine(checkSelection),
  },
);

export const bulkAddToSegment = bulk(
  "addToSegment",
  {
    path: "/contacts/bulk-add-to-segment",
    summary: "Add many contacts to a static segment",
    description:
      "Members stay members and count as unchanged. The job fails if the segment is deleted first.",
  },
  {
    body: z
      .object({
        ...selectionFields,
        targetSegmentId: id.describe(
          "The static segment to add to. `filter.segmentId` selects members of another one.",
        ),
      })
      .superRefine(checkSelection),
    errors: ["CONFLICT"],
  },
);

const bulkResult = z.object({
  operation: z.enum(BULK_OPERATIONS),
  totalRequested: z.int().describe("Each contact counts once: success + unchanged + failure."),
  successCount: z.int(),
  unchangedCount: z.int().describe("Contacts that needed no change."),
  failureCount: z.int(),
  errors: z
    .array(
      z.object({
        contactId: z.uuid(),
        email: z.string().nullable().describe("Null for a contact that does not exist."),
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
  summary: "Read the progress and result of a bulk change",
  description:
    "Poll until `state` is `completed` or `failed`; `result` then contains the counts and the first errors.",
  caller: "project",
  params: byJobId,
  responses: { 200: jobResponse(bulkResult) },
  errors: ["JOB_NOT_FOUND"],
});

export const CONTACT_BULK_ENDPOINTS = [
  bulkSubscribe,
  bulkUnsubscribe,
  bulkDelete,
  bulkUpdate,
  bulkAddToSegment,
  getBulk,
];

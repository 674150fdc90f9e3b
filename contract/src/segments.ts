// Segments over HTTP: which contacts (spec §2.7, 4.6; decisions §5).
import { z } from "zod";
import { contact } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { emailAddress, expectedUpdatedAt, id, instant, pageQuery, pathId, queryInteger } from "./field.ts";
import { filter } from "./filters.ts";
import { LIMITS } from "./limits/limits.ts";

export const SEGMENT_TYPES = ["DYNAMIC", "STATIC"] as const;
export type SegmentType = (typeof SEGMENT_TYPES)[number];

const segment = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(SEGMENT_TYPES),
  filters: z.unknown().describe("The condition of a dynamic segment; null for a static one."),
  condition: z.unknown().describe("The same condition as `{ logic, groups }`."),
  slug: z.string().describe("In the names of its events; made from the first name and kept."),
  trackMembership: z.boolean(),
  memberCount: z.int().describe("As last counted; `POST /segments/:id/refresh` counts now."),
  createdAt: instant,
  updatedAt: instant,
});
const byId = z.object({ id: pathId });
const name = z.string().trim().min(1).max(LIMITS.nameLength.value);
const description = z.string().max(LIMITS.descriptionLength.value).nullable().describe("null: none.");

export const listSegments = endpoint({
  name: "segments.list",
  method: "GET",
  path: "/segments",
  summary: "List segments, newest first",
  description: "All of them as an array; with `limit` or `cursor` a page.",
  caller: "project",
  query: pageQuery,
  answers: {
    200: z.union([
      z.array(segment),
      z.object({
        data: z.array(segment),
        cursor: z.string().nullable(),
        hasMore: z.boolean(),
        total: z.int(),
      }),
    ]),
  },
});

export const createSegment = endpoint({
  name: "segments.create",
  method: "POST",
  path: "/segments",
  summary: "Create a segment",
  description:
    'With `filters` (or `condition`, the same in its other form) it is dynamic: whoever matches is in it. With `type: "STATIC"` its members are added and removed by address.',
  caller: "project",
  body: z.object({
    name,
    description: description.optional(),
    type: z.enum(SEGMENT_TYPES).optional(),
    filters: filter
      .nullable()
      .optional()
      .describe("The condition of a dynamic segment; null: none, for a static one."),
    condition: filter.nullable().optional().describe("The same as `filters`."),
    trackMembership: z
      .boolean()
      .optional()
      .describe("Keep the members of a dynamic segment and emit an event for each entry and exit."),
  }),
  unknownFields: "refused-unless-returned",
  answers: { 201: segment },
});

export const getSegment = endpoint({
  name: "segments.get",
  method: "GET",
  path: "/segments/:id",
  summary: "Read a segment",
  description:
    "`memberCount` is the number of members when it was last counted; `POST /segments/:id/refresh` counts again.",
  caller: "project",
  params: byId,
  answers: { 200: segment },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const updateSegment = endpoint({
  name: "segments.update",
  method: "PATCH",
  path: "/segments/:id",
  summary: "Change a segment",
  description: "Its kind stays, and so do the names of its events.",
  caller: "project",
  params: byId,
  body: z.object({
    name: name.optional(),
    description: description.optional(),
    filters: filter.nullable().optional().describe("null: none, for a static segment."),
    condition: filter.nullable().optional().describe("The same as `filters`."),
    trackMembership: z.boolean().optional(),
    expectedUpdatedAt,
  }),
  unknownFields: "refused-unless-returned",
  answers: { 200: segment },
  errors: ["SEGMENT_NOT_FOUND", "CHANGED_MEANWHILE", "CONFLICT"],
});

export const deleteSegment = endpoint({
  name: "segments.delete",
  method: "DELETE",
  path: "/segments/:id",
  summary: "Delete a segment",
  description:
    "Refused while another segment, an enabled workflow, or a campaign that is not over uses it. Contacts stay.",
  caller: "project",
  params: byId,
  answers: { 204: null },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const listSegmentContacts = endpoint({
  name: "segments.contacts",
  method: "GET",
  path: "/segments/:id/contacts",
  summary: "List the contacts in a segment, newest first",
  description: "Live: a dynamic segment is evaluated now.",
  caller: "project",
  params: byId,
  query: z.object({
    page: queryInteger(1, LIMITS.pageNumber.value, "The page; the first is 1.").optional(),
    pageSize: queryInteger(
      1,
      LIMITS.pageSizeMaximum.value,
      `Items per page; default ${LIMITS.pageSizeDefault.value}.`,
    ).optional(),
  }),
  answers: {
    200: z.object({
      data: z.array(contact),
      total: z.int(),
      page: z.int(),
      pageSize: z.int(),
      totalPages: z.int(),
    }),
  },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const listContactSegments = endpoint({
  name: "segments.ofContact",
  method: "GET",
  path: "/contacts/:id/segments",
  summary: "List the segments with whether a contact is in each",
  description: "A page of the project's segments, newest first. Live: dynamic segments are evaluated now.",
  caller: "project",
  params: byId,
  query: pageQuery,
  answers: {
    200: z.object({
      data: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          type: z.enum(SEGMENT_TYPES),
          isMember: z
            .boolean()
            .nullable()
            .describe(
              "null: with the segments it stands on it has more conditions than one filter may have.",
            ),
        }),
      ),
      cursor: z.string().nullable(),
      hasMore: z.boolean(),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});

const emails = z
  .array(emailAddress)
  .min(1)
  .max(LIMITS.segmentEmails.value)
  .describe("Addresses, in any spelling.");

export const addSegmentMembers = endpoint({
  name: "segments.addMembers",
  method: "POST",
  path: "/segments/:id/members",
  summary: "Add contacts to a static segment",
  description:
    "Addresses that no contact has are returned in `notFound`, or become contacts with `createMissing`.",
  caller: "project",
  params: byId,
  body: z.object({
    emails,
    createMissing: z.boolean().optional().describe("Create contacts for addresses that have none."),
    subscribed: z
      .boolean()
      .optional()
      .describe("Whether created contacts are subscribed. Default: true, unless the address opted out."),
  }),
  unknownFields: "refused",
  answers: { 200: z.object({ added: z.int(), created: z.int(), notFound: z.array(z.string()) }) },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const removeSegmentMembers = endpoint({
  name: "segments.removeMembers",
  method: "DELETE",
  path: "/segments/:id/members",
  summary: "Remove contacts from a static segment",
  description: "Addresses that are no members are passed over. The contacts themselves stay.",
  caller: "project",
  params: byId,
  body: z.object({ emails }),
  unknownFields: "refused",
  answers: { 200: z.object({ removed: z.int() }) },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const computeSegment = endpoint({
  name: "segments.compute",
  method: "POST",
  path: "/segments/:id/compute",
  summary: "Compute the members of a tracked segment now",
  description: "Emits an entry or exit event for each contact that really came or left.",
  caller: "project",
  params: byId,
  answers: { 200: z.object({ added: z.int(), removed: z.int(), total: z.int() }) },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const refreshSegment = endpoint({
  name: "segments.refresh",
  method: "POST",
  path: "/segments/:id/refresh",
  summary: "Count the members of a segment now",
  description: "Emits nothing and changes no membership.",
  caller: "project",
  params: byId,
  answers: { 200: z.object({ memberCount: z.int() }) },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const previewSegment = endpoint({
  name: "segments.preview",
  method: "POST",
  path: "/segments/preview",
  summary: "Count who matches a filter, with a few of them",
  description: "Nothing is stored. Shows what a filter means before it becomes a segment or an audience.",
  caller: "project",
  isRead: true,
  body: z.object({ filters: filter }),
  unknownFields: "refused",
  answers: { 200: z.object({ count: z.int(), sample: z.array(contact) }) },
});

export const explainSegment = endpoint({
  name: "segments.explain",
  method: "POST",
  path: "/segments/explain",
  summary: "Tell why a contact matches a filter or does not",
  description: "Each condition with true or false and the value seen.",
  caller: "project",
  isRead: true,
  body: z.object({ filters: filter, contactId: id }),
  unknownFields: "refused",
  answers: {
    200: z.object({
      matches: z.boolean(),
      conditions: z
        .array(z.unknown())
        .describe("Each condition with `matches` and `seen`, in the order they are written."),
      explanation: z.unknown().describe("The same in the shape of the filter."),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});

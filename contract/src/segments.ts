// Segment endpoints (spec §2.7, 4.6; decisions §5).
import { z } from "zod";
import { contact } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { emailAddress, expectedUpdatedAt, id, instant, pageQuery, pathId, queryInteger } from "./field.ts";
import { filter } from "./filters.ts";
import { LIMITS } from "./limits/limits.ts";

export const SEGMENT_TYPES = ["DYNAMIC", "STATIC"] as const;
export type SegmentType = (typeof SEGMENT_TYPES)[number];

export const segment = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(SEGMENT_TYPES),
  filters: z.unknown().describe("The condition of a dynamic segment; null for a static one."),
  condition: z.unknown().describe("The same condition as `{ logic, groups }`."),
  slug: z
    .string()
    .describe("Used in the names of its events; created from the first name and never changed."),
  trackMembership: z.boolean(),
  memberCount: z.int().describe("The last count; `POST /segments/:id/refresh` counts again."),
  createdAt: instant,
  updatedAt: instant,
});
const byId = z.object({ id: pathId });
const name = z.string().trim().min(1).max(LIMITS.nameLength.value);
const description = z.string().max(LIMITS.descriptionLength.value).nullable().describe("null for none.");

export const listSegments = endpoint({
  name: "segments.list",
  method: "GET",
  path: "/segments",
  summary: "List segments, newest first",
  description: "All segments as an array, or a page with `limit` or `cursor`.",
  caller: "project",
  query: pageQuery,
  responses: {
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
    'With `filters` (or `condition` in its other form), the segment is dynamic and contains all matching contacts. With `type: "STATIC"`, members are added and removed by address.',
  caller: "project",
  body: z.object({
    name,
    description: description.optional(),
    type: z.enum(SEGMENT_TYPES).optional(),
    filters: filter
      .nullable()
      .optional()
      .describe("The condition of a dynamic segment; null for a static one."),
    condition: filter.nullable().optional().describe("Alias of `filters`."),
    trackMembership: z
      .boolean()
      .optional()
      .describe("Keep the members of a dynamic segment and emit an event for each entry and exit."),
  }),
  unknownFields: "refused-unless-returned",
  responses: { 201: segment },
});

export const getSegment = endpoint({
  name: "segments.get",
  method: "GET",
  path: "/segments/:id",
  summary: "Read a segment",
  description: "`memberCount` is the last count; `POST /segments/:id/refresh` counts again.",
  caller: "project",
  params: byId,
  responses: { 200: segment },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const updateSegment = endpoint({
  name: "segments.update",
  method: "PATCH",
  path: "/segments/:id",
  summary: "Change a segment",
  description: "Its type and the names of its events never change.",
  caller: "project",
  params: byId,
  body: z.object({
    name: name.optional(),
    description: description.optional(),
    filters: filter
      .nullable()
      .optional()
      .describe("The condition of a dynamic segment; null for a static one."),
    condition: filter.nullable().optional().describe("Alias of `filters`."),
    trackMembership: z.boolean().optional(),
    expectedUpdatedAt,
  }),
  unknownFields: "refused-unless-returned",
  responses: { 200: segment },
  errors: ["SEGMENT_NOT_FOUND", "CHANGED_MEANWHILE", "CONFLICT"],
});

export const deleteSegment = endpoint({
  name: "segments.delete",
  method: "DELETE",
  path: "/segments/:id",
  summary: "Delete a segment",
  description:
    "Not possible while another segment, an enabled workflow, or an unfinished campaign uses it. Contacts are kept.",
  caller: "project",
  params: byId,
  responses: { 204: null },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const listSegmentContacts = endpoint({
  name: "segments.contacts",
  method: "GET",
  path: "/segments/:id/contacts",
  summary: "List the contacts in a segment, newest first",
  description: "Dynamic segments are evaluated at the time of the call.",
  caller: "project",
  params: byId,
  query: z.object({
    page: queryInteger(1, LIMITS.pageNumber.value, "The page, starting at 1.").optional(),
    pageSize: queryInteger(
      1,
      LIMITS.pageSizeMaximum.value,
      `Items per page; default ${LIMITS.pageSizeDefault.value}.`,
    ).optional(),
  }),
  responses: {
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
  summary: "List segments with a contact's membership",
  description:
    "A page of the project's segments, newest first. Dynamic segments are evaluated at the time of the call.",
  caller: "project",
  params: byId,
  query: pageQuery,
  responses: {
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
              "null if the segment, with the segments it refers to, has more conditions than one filter may have.",
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
  .describe("Addresses in any spelling.");

export const addSegmentMembers = endpoint({
  name: "segments.addMembers",
  method: "POST",
  path: "/segments/:id/members",
  summary: "Add contacts to a static segment",
  description:
    "Addresses without a contact are returned in `notFound`, or become contacts with `createMissing`.",
  caller: "project",
  params: byId,
  body: z.object({
    emails,
    createMissing: z.boolean().optional().describe("Creates contacts for addresses without one."),
    subscribed: z
      .boolean()
      .optional()
      .describe("Whether created contacts are subscribed. Default: true, unless the address opted out."),
  }),
  unknownFields: "refused",
  responses: { 200: z.object({ added: z.int(), created: z.int(), notFound: z.array(z.string()) }) },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const removeSegmentMembers = endpoint({
  name: "segments.removeMembers",
  method: "DELETE",
  path: "/segments/:id/members",
  summary: "Remove contacts from a static segment",
  description: "Addresses that are not members are ignored. Contacts are kept.",
  caller: "project",
  params: byId,
  body: z.object({ emails }),
  unknownFields: "refused",
  responses: { 200: z.object({ removed: z.int() }) },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const computeSegment = endpoint({
  name: "segments.compute",
  method: "POST",
  path: "/segments/:id/compute",
  summary: "Update the members of a tracked segment now",
  description: "Emits an entry or exit event for each contact that enters or leaves the segment.",
  caller: "project",
  params: byId,
  responses: { 200: z.object({ added: z.int(), removed: z.int(), total: z.int() }) },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const refreshSegment = endpoint({
  name: "segments.refresh",
  method: "POST",
  path: "/segments/:id/refresh",
  summary: "Count the members of a segment now",
  description: "Emits no events and changes no members.",
  caller: "project",
  params: byId,
  responses: { 200: z.object({ memberCount: z.int() }) },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const previewSegment = endpoint({
  name: "segments.preview",
  method: "POST",
  path: "/segments/preview",
  summary: "Preview the contacts that match a filter",
  description:
    "Returns their number and a few examples, and stores nothing. Use it to test a filter for a segment or an audience.",
  caller: "project",
  isRead: true,
  body: z.object({ filters: filter }),
  unknownFields: "refused",
  responses: { 200: z.object({ count: z.int(), sample: z.array(contact) }) },
});

export const explainSegment = endpoint({
  name: "segments.explain",
  method: "POST",
  path: "/segments/explain",
  summary: "Explain why a contact matches a filter or not",
  description: "Returns true or false for each condition, with the value seen.",
  caller: "project",
  isRead: true,
  body: z.object({ filters: filter, contactId: id }),
  unknownFields: "refused",
  responses: {
    200: z.object({
      matches: z.boolean(),
      conditions: z
        .array(z.unknown())
        .describe("Each condition with `matches` and `seen`, in the original order."),
      explanation: z.unknown().describe("The same results in the structure of the filter."),
    }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});

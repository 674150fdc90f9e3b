// Saved views of contacts, shared by the members of a project (docs/decisions/0080-saved-views.md).
import { z } from "zod";
import { CONTACT_SORTS, SORT_DIRECTIONS } from "./contacts.ts";
import { endpoint } from "./endpoint.ts";
import { id, instant, pathId } from "./field.ts";
import { filter } from "./filters.ts";
import { LIMITS } from "./limits/limits.ts";

const name = z.string().trim().min(1).max(LIMITS.nameLength.value);

const question = z.object({
  search: z.string().max(LIMITS.searchLength.value).optional().describe("A part of the address."),
  subscribed: z.boolean().optional(),
  segmentId: id.optional().describe("Only members of this segment; it may have been deleted since then."),
  sort: z.enum(CONTACT_SORTS).optional(),
  dir: z.enum(SORT_DIRECTIONS).optional(),
  fields: z
    .array(z.string().min(1).max(LIMITS.dataKeyLength.value))
    .max(LIMITS.viewFields.value)
    .optional()
    .describe("Custom fields shown as columns, in this order."),
});

/** The query of `POST /contacts/search`, and the additional columns. */
const viewQuery = question.extend({
  filters: filter
    .optional()
    .describe("Only contacts that match; a segment in the filter may have been deleted since then."),
});
const savedQuery = question.extend({
  filters: z.unknown().optional().describe("Only contacts that match."),
});

export type ViewQuery = z.output<typeof viewQuery>;

const view = z.object({
  id: z.uuid(),
  name: z.string(),
  query: savedQuery,
  createdAt: instant,
  updatedAt: instant,
});
const byId = z.object({ id: pathId });

export const listContactViews = endpoint({
  name: "contacts.listViews",
  method: "GET",
  path: "/contacts/views",
  summary: "List saved contact views by name",
  description: `A view saves a query of the contact list under a name. All members share it. A project can have up to ${LIMITS.contactViews.value}.`,
  caller: "project",
  responses: { 200: z.object({ data: z.array(view) }) },
});

export const createContactView = endpoint({
  name: "contacts.createView",
  method: "POST",
  path: "/contacts/views",
  summary: "Save a contact view",
  description: "Its name must be unique in the project.",
  caller: "project",
  body: z.object({ name, query: viewQuery }),
  responses: { 201: view },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const updateContactView = endpoint({
  name: "contacts.updateView",
  method: "PATCH",
  path: "/contacts/views/:id",
  summary: "Rename a contact view or change its query",
  description: "Only the given fields change; `query` is replaced as a whole.",
  caller: "project",
  params: byId,
  body: z.object({ name: name.optional(), query: viewQuery.optional() }),
  responses: { 200: view },
  errors: ["VIEW_NOT_FOUND", "SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const deleteContactView = endpoint({
  name: "contacts.deleteView",
  method: "DELETE",
  path: "/contacts/views/:id",
  summary: "Delete a contact view",
  description: "Contacts are not changed.",
  caller: "project",
  params: byId,
  responses: { 204: null },
  errors: ["VIEW_NOT_FOUND"],
});

export const CONTACT_VIEW_ENDPOINTS = [
  listContactViews,
  createContactView,
  updateContactView,
  deleteContactView,
] as const;

// Views of the contacts that the members of a project keep and share (docs/decisions/0080-saved-views.md).
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
  segmentId: id.optional().describe("Only members of this segment; it may have been deleted since."),
  sort: z.enum(CONTACT_SORTS).optional(),
  dir: z.enum(SORT_DIRECTIONS).optional(),
  fields: z
    .array(z.string().min(1).max(LIMITS.dataKeyLength.value))
    .max(LIMITS.viewFields.value)
    .optional()
    .describe("Custom fields that have a column, in this order."),
});

/** What `POST /contacts/search` can be asked, and the columns beside it. */
const viewQuery = question.extend({
  filters: filter
    .optional()
    .describe("Only those who match; a segment it names may have been deleted since."),
});
const savedQuery = question.extend({
  filters: z.unknown().optional().describe("Only those who match."),
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
  summary: "List the saved views of the contacts, by name",
  description: `A view is what the list of contacts is asked, under a name. All members share them; a project has at most ${LIMITS.contactViews.value}.`,
  caller: "project",
  answers: { 200: z.object({ data: z.array(view) }) },
});

export const createContactView = endpoint({
  name: "contacts.createView",
  method: "POST",
  path: "/contacts/views",
  summary: "Save a view of the contacts",
  description: "Its name is not taken by another view of the project.",
  caller: "project",
  body: z.object({ name, query: viewQuery }),
  answers: { 201: view },
  errors: ["SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const updateContactView = endpoint({
  name: "contacts.updateView",
  method: "PATCH",
  path: "/contacts/views/:id",
  summary: "Rename a view of the contacts, or change what it shows",
  description: "Only what is sent changes; `query` is replaced as a whole.",
  caller: "project",
  params: byId,
  body: z.object({ name: name.optional(), query: viewQuery.optional() }),
  answers: { 200: view },
  errors: ["VIEW_NOT_FOUND", "SEGMENT_NOT_FOUND", "CONFLICT"],
});

export const deleteContactView = endpoint({
  name: "contacts.deleteView",
  method: "DELETE",
  path: "/contacts/views/:id",
  summary: "Delete a view of the contacts",
  description: "No contact changes.",
  caller: "project",
  params: byId,
  answers: { 204: null },
  errors: ["VIEW_NOT_FOUND"],
});

/** All of them, in their order. */
export const CONTACT_VIEW_ENDPOINTS = [
  listContactViews,
  createContactView,
  updateContactView,
  deleteContactView,
] as const;

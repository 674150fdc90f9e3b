// Queries for contact fields: their names, which are fast, and their fill rates, which take seconds for large projects.
import { queryOptions } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";

type FieldsResponse = ApiResponse<typeof api.contacts.listFields>;
export type ContactField = FieldsResponse["fields"][number];

/** The project's custom fields. */
export function fieldsQuery(projectId: string) {
  return queryOptions({
    ...query(api.contacts.listFields, { projectId, query: { withCoverage: "false" } }),
    select: customFieldsOf,
  });
}

/** The share of contacts with a value, by custom field. */
export function coverageQuery(projectId: string) {
  return queryOptions({ ...query(api.contacts.listFields, { projectId }), select: coverageOf });
}

/** Returns the custom fields of a response. */
export function customFieldsOf({ fields }: FieldsResponse): ContactField[] {
  return fields.filter(({ isCustom }) => isCustom);
}

/** Returns the types of custom fields by their keys in `data`. */
export function fieldTypes(fields: readonly ContactField[]): ReadonlyMap<string, ContactField["type"]> {
  return new Map(fields.map(({ field, type }) => [field.replace(/^data\./, ""), type]));
}

function coverageOf(response: FieldsResponse): ReadonlyMap<string, number> {
  return new Map(customFieldsOf(response).map(({ field, coverage = 0 }) => [field, coverage]));
}

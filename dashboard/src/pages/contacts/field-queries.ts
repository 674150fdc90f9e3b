// Queries for contact fields: their names, which are fast, and their fill rates, which take seconds for large projects.
import { queryOptions } from "@tanstack/react-query";
import { call, type ApiResponse } from "../../api/call.ts";
import { listContactFields } from "../../api/endpoints.ts";

export type ContactField = ApiResponse<NonNullable<typeof listContactFields.endpoint>>["fields"][number];

/** Key prefix of all queries about fields, for invalidation. */
export const fieldsKey = (projectId: string) => ["project", projectId, "contact-fields"];

/** The project's custom fields. */
export function fieldsQuery(projectId: string) {
  return queryOptions({
    queryKey: [...fieldsKey(projectId), "names"],
    queryFn: async ({ signal }): Promise<ContactField[]> =>
      ownOf(await call(listContactFields, { projectId, query: { withCoverage: "false" }, signal })),
  });
}

/** The share of contacts with a value, by custom field. */
export function coverageQuery(projectId: string) {
  return queryOptions({
    queryKey: [...fieldsKey(projectId), "coverage"],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> =>
      new Map(
        ownOf(await call(listContactFields, { projectId, signal })).map(({ field, coverage = 0 }) => [
          field,
          coverage,
        ]),
      ),
  });
}

function ownOf({ fields }: { fields: ContactField[] }): ContactField[] {
  return fields.filter(({ isCustom }) => isCustom);
}

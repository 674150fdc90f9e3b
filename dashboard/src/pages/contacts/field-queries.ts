// The fields of a project's contacts: which there are, at once, and how many contacts have each, which takes seconds where there are many.
import { queryOptions } from "@tanstack/react-query";
import { call, type Answer } from "../../api/call.ts";
import { listContactFields } from "../../api/endpoints.ts";

export type ContactField = Answer<NonNullable<typeof listContactFields.endpoint>>["fields"][number];

/** Of all questions about fields: whoever deletes one invalidates it. */
export const fieldsKey = (projectId: string) => ["project", projectId, "contact-fields"];

/** The project's own fields. */
export function fieldsQuery(projectId: string) {
  return queryOptions({
    queryKey: [...fieldsKey(projectId), "names"],
    queryFn: async ({ signal }): Promise<ContactField[]> =>
      ownOf(await call(listContactFields, { projectId, query: { withCoverage: "false" }, signal })),
  });
}

/** The share of contacts that has each of the project's own fields, by its name. */
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

// Query for one contact.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getContact } from "../../api/endpoints.ts";

export function contactQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "contact", id],
    queryFn: ({ signal }) => call(getContact, { projectId, params: { id }, signal }),
  });
}

// How the mail of a project is received, as its settings and its home page ask for it.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getSecurity } from "../../api/endpoints.ts";

export function securityQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "security"],
    queryFn: ({ signal }) => call(getSecurity, { params: { projectId }, signal }),
  });
}

// Query for a project's bounce and complaint rates.
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getSecurity } from "../../api/endpoints.ts";

export function securityQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "security"],
    queryFn: ({ signal }) => call(getSecurity, { params: { projectId }, signal }),
  });
}

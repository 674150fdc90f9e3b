// Queries on the versions of a workflow.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ApiResponse } from "../../../api/address.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";

export type Version = ApiResponse<typeof api.workflows.listVersions>["data"][number];

/** The newest versions. @param revision of the workflow, because an edit may add a version */
export function versionsQuery(projectId: string, id: string, revision: number | undefined) {
  const pageSize = String(LIMITS.pageSizeMaximum.value);
  return query(api.workflows.listVersions, { projectId, params: { id }, query: { pageSize } }, revision);
}

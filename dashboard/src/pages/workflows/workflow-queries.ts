// Queries and types of workflows, shared by their pages.
import type { QueryClient } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";

export type ListedWorkflow = ApiResponse<typeof api.workflows.list>["data"][number];
export type Workflow = ApiResponse<typeof api.workflows.get>;
export type Step = Workflow["steps"][number];
export type Problem = Workflow["problems"][number];
export type WorkflowNumbers = ApiResponse<typeof api.workflows.stats>;
export type StepNumbers = WorkflowNumbers["steps"][number];

export function workflowQuery(projectId: string, id: string) {
  return query(api.workflows.get, { projectId, params: { id } });
}

/** The folders and tags of all workflows, whatever the list is filtered by. */
export function groupsQuery(projectId: string) {
  return query(api.workflows.list, { projectId, query: { pageSize: "1" } });
}

export function stepNumbersQuery(projectId: string, id: string) {
  return query(api.workflows.stats, { projectId, params: { id } });
}

/** Refetches the list, the workflows and their executions. */
export function invalidateWorkflows(queries: QueryClient, projectId: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: resourceKey(api.workflows.list, { projectId }) });
}

// Lists workflows with their numbers.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import {
  countMatchingWorkflows,
  listFolders,
  listTags,
  listWorkflowRows,
  type WorkflowFilter,
  type WorkflowOrder,
} from "./listing-queries.ts";
import { presentListed } from "./present.ts";

const DAY_MS = 86_400_000;
const WINDOW_MS = 30 * DAY_MS;
const RECENT_FAILURES_MS = 7 * DAY_MS;

/** Returns a page of workflows with the number of steps and executions of each, and the results of up to 30 days. */
export async function listWorkflows(
  database: Database,
  projectId: string,
  filter: WorkflowFilter,
  request: { order: WorkflowOrder; page: number; pageSize: number },
) {
  const at = now().getTime();
  const since = new Date(at - WINDOW_MS);
  const rows = await listWorkflowRows(database, projectId, filter, {
    ...request,
    since,
    window: LIMITS.recentExecutionsCounted.value,
    failedSince: new Date(at - RECENT_FAILURES_MS),
  });
  const total = await countMatchingWorkflows(database, projectId, filter);
  const folders = await listFolders(database, projectId);
  const tags = await listTags(database, projectId);
  const { page, pageSize } = request;
  return {
    data: rows.map(presentListed),
    countedSince: (rows[0]?.windowStart ?? since).toISOString(),
    folders,
    tags,
    total,
    page,
    pageSize,
    totalPages: Math.ceil(total / pageSize),
  };
}

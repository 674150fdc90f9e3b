// Lists the failed executions of a workflow by step and cause.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { StepType } from "@postloft/contract/workflows/graph.ts";
import { readClock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { listFailureGroups, type FailureGroup } from "./cause-queries.ts";
import { requireWorkflow } from "./executions.ts";

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function listFailures(database: Database, projectId: string, id: string) {
  const { id: workflowId } = await requireWorkflow(database, projectId, id);
  const groups = await listFailureGroups(database, projectId, workflowId, {
    newest: LIMITS.failuresGrouped.value,
    groups: LIMITS.failureCauses.value,
  });
  // Read after the groups, so that a retry of failures until then includes all that they count.
  const countedAt = await readClock(database);
  return {
    data: groups.map(present),
    total: groups[0]?.total ?? 0,
    countedAt: countedAt.toISOString(),
  };
}

function present({ stepName, stepType, newestAt, executionId, contactId, email, ...group }: FailureGroup) {
  return {
    stepId: group.stepId,
    stepName: stepName ?? "",
    stepType: (stepType ?? "TRIGGER") as StepType,
    cause: group.cause,
    error: group.error,
    count: group.count,
    newestAt: newestAt.toISOString(),
    example: { executionId, contact: contactId === null ? null : { id: contactId, email: email ?? "" } },
  };
}

// Enables a workflow with a SEGMENT_ENTRY trigger for contacts that are in the segment already.
import { invalidField } from "../platform/app-error.ts";
import type { Tx } from "../platform/database/database.ts";
import { lockProject } from "../projects/projects.ts";
import { startForAudience } from "./executions/start-executions.ts";
import { entrySegmentOf } from "./references.ts";
import { getWorkflowRow, updateWorkflow, type WorkflowEdit, type WorkflowView } from "./workflows.ts";

const FIELD = "includeMembers";

/**
 * Enables a workflow, and queues a job that lets the current members of its segment enter.
 * @throws AppError as `updateWorkflow`, and VALIDATION_ERROR unless the call enables a workflow with the trigger SEGMENT_ENTRY
 */
export async function enableWithMembers(
  tx: Tx,
  projectId: string,
  id: string,
  edit: WorkflowEdit,
): Promise<WorkflowView> {
  // Only one of several concurrent calls enables the workflow.
  await lockProject(tx, projectId);
  const before = await getWorkflowRow(tx, projectId, id);
  if (edit.enabled !== true || before.enabled)
    throw invalidField(FIELD, "custom", "Only allowed in the call that enables the workflow.");
  const workflow = await updateWorkflow(tx, projectId, id, edit);
  const segmentId = entrySegmentOf(workflow);
  if (segmentId === null) throw invalidField(FIELD, "custom", "Only allowed with the trigger SEGMENT_ENTRY.");
  const audience = { audienceType: "SEGMENT", segmentId, audienceFilter: null } as const;
  await startForAudience(tx, projectId, { workflowId: workflow.id, audience, context: {} });
  return workflow;
}

// Events about workflows for the event stream of their project (docs/decisions/0141-events-of-the-project.md).
import type { ProjectEventType } from "@postloft/contract/event-names.ts";
import type { Tx } from "../platform/database/database.ts";
import { recordProjectEvents, type ProjectEvent } from "../reactions/reactions.ts";

interface NamedWorkflow {
  id: string;
  name: string;
}

/** Returns an event with the workflow and the given facts as its data. */
export function workflowEvent(
  projectId: string,
  type: ProjectEventType & `workflow.${string}`,
  { id, name }: NamedWorkflow,
  facts: Readonly<Record<string, unknown>> = {},
): ProjectEvent {
  return { projectId, type, data: { workflow: { id, name }, ...facts } };
}

/** Records that a workflow was enabled or disabled. */
export async function recordEnabled(
  tx: Tx,
  projectId: string,
  workflow: NamedWorkflow & { enabled: boolean },
): Promise<void> {
  const type = workflow.enabled ? "workflow.enabled" : "workflow.disabled";
  await recordProjectEvents(tx, [workflowEvent(projectId, type, workflow)]);
}

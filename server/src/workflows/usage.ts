// Who of the workflows uses a template, a segment, a field, an event: asked by those who own them, before they are deleted.
// Before it: api.ts hands these to templates/, segments/, contacts/fields/ and events/. After it: reference-queries.ts.
import type { Database } from "../platform/database.ts";
import {
  findWorkflowOfSegment,
  listStepsSending,
  listWorkflowsNamingEvent,
  listWorkflowsNamingField,
  type NamedRow,
} from "./reference-queries.ts";

/** The steps that send a template, of current graphs, whether enabled or not. */
export async function workflowStepsOf(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<Array<{ workflowId: string; workflowName: string; stepId: string }>> {
  return listStepsSending(database, projectId, templateId);
}

/** The name of an enabled workflow that a segment starts, or that asks about it; undefined when there is none. */
export async function workflowOfSegment(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  return findWorkflowOfSegment(database, projectId, segmentId);
}

/** Workflows that ask about a field (`data.plan`, `email`), or write it. */
export async function workflowsNamingField(
  database: Database,
  projectId: string,
  field: string,
): Promise<NamedRow[]> {
  const key = field.startsWith("data.") ? field.slice("data.".length) : null;
  return listWorkflowsNamingField(database, projectId, { field, key });
}

/** Workflows that an event starts, that wait for it, or that ask whether it happened. */
export async function listWorkflowsWithEvent(
  database: Database,
  projectId: string,
  eventName: string,
): Promise<NamedRow[]> {
  return listWorkflowsNamingEvent(database, projectId, eventName);
}

// Who of the workflows uses a template, a segment, a field, an event, and what executions hold of contacts: asked by those who own them,
// before they are deleted.
import type { Database } from "../platform/database/database.ts";
import type { Dependents } from "../contacts/contacts.ts";
import type { UndoSurroundings } from "../contacts/import/undo-import.ts";
import { importedMembers } from "../segments/imported-members.ts";
import { memberships, segmentsOfContact } from "../segments/usage.ts";
import { RECIPIENT_CHECKS } from "../suppressions/recipients.ts";
import { listExecutionsHolding } from "./executions/contact-queries.ts";
import { forgetExecutionsOf, lockExecutionsOf } from "./executions/forget-executions.ts";
import {
  findWorkflowOfSegment,
  findWorkflowStartedBy,
  listStepsSending,
  listWorkflowsNamingEvent,
  listWorkflowsNamingField,
  type NamedRow,
} from "./reference-queries.ts";

/** What is held of contacts that are deleted, for contacts/; in the order in which it is locked. */
export const dependents: readonly Dependents[] = [
  memberships,
  { lock: lockExecutionsOf, end: forgetExecutionsOf },
];

/** What the undo of an import needs of the folders after contacts/. */
export const contactSurroundings: UndoSurroundings = {
  dependents,
  suppressionOf: RECIPIENT_CHECKS.suppressionOf,
  members: importedMembers,
};

const EXECUTIONS_A_PAGE = 100;

/** What executions hold of a contact, oldest first, as it is read: there may be many. */
export async function* executionsOfContact(database: Database, projectId: string, contactId: string) {
  for (let after: string | null = null; ;) {
    const page = { after, limit: EXECUTIONS_A_PAGE };
    const rows = await listExecutionsHolding(database, projectId, contactId, page);
    for (const row of rows)
      yield {
        id: row.id,
        workflow: { id: row.workflowId, name: row.workflowName },
        status: row.status,
        startedAt: row.startedAt.toISOString(),
        completedAt: row.endedAt?.toISOString() ?? null,
        context: row.context ?? {},
        results: row.results ?? {},
      };
    const last = rows.at(-1);
    if (last === undefined || rows.length < EXECUTIONS_A_PAGE) return;
    after = last.id;
  }
}

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

/** The name of an enabled workflow that starts where contacts enter or leave a segment; undefined when there is none. */
export async function workflowStartedBy(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  return findWorkflowStartedBy(database, projectId, segmentId);
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

/** What imports, exports and undos of contacts need of the folders after contacts/. */
export const contactFiles = { segmentsOfContact, executionsOfContact, undo: contactSurroundings };

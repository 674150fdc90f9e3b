// Tells earlier folders which workflows use a template, segment, field or event, and what executions store about contacts.
import { exitSegmentIds } from "@postloft/contract/workflows/exit-conditions.ts";
import type { Database } from "../platform/database/database.ts";
import type { Dependents } from "../contacts/contacts.ts";
import type { UndoContext } from "../contacts/import/undo-import.ts";
import { importedMembers } from "../segments/imported-members.ts";
import { memberships, segmentsOfContact } from "../segments/usage.ts";
import { loggedEvents } from "../stream/numbered-log.ts";
import { RECIPIENT_CHECKS } from "../suppressions/recipients.ts";
import { listExecutionsHolding } from "./executions/contact-queries.ts";
import { redactExecutionsOf, lockExecutionsOf } from "./executions/redact-executions.ts";
import { stepsFrom } from "./graph-rules.ts";
import {
  findWorkflowOfSegment,
  findWorkflowStartedBy,
  listActiveInVersionsOfSegment,
  listActiveInVersionsSending,
  listStepsSending,
  listWorkflowsNamingEvent,
  listWorkflowsNamingField,
  type ActivePlace,
  type NamedRow,
} from "./reference-queries.ts";
import { segmentIdsOfStep, templateIdOf } from "./references.ts";

/** The rows to lock and delete with contacts, for contacts/, in lock order. */
export const dependents: readonly Dependents[] = [
  memberships,
  { lock: lockExecutionsOf, end: redactExecutionsOf },
  loggedEvents,
];

/** Dependencies of the undo of an import, from the folders after contacts/. */
export const contactContext: UndoContext = {
  dependents,
  suppressionOf: RECIPIENT_CHECKS.suppressionOf,
  members: importedMembers,
};

const EXECUTIONS_A_PAGE = 100;

/** Yields the executions of a contact, oldest first, page by page because there may be many. */
async function* executionsOfContact(database: Database, projectId: string, contactId: string) {
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
        exitReason: row.exitReason,
        context: row.context ?? {},
        results: row.results ?? {},
      };
    const last = rows.at(-1);
    if (last === undefined || rows.length < EXECUTIONS_A_PAGE) return;
    after = last.id;
  }
}

/** Returns the steps that send a template in current graphs, whether enabled or not. */
export async function workflowStepsOf(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<Array<{ workflowId: string; workflowName: string; stepId: string }>> {
  return listStepsSending(database, projectId, templateId);
}

/** Active executions that will still reach a step. */
export interface ReachingExecutions {
  workflowId: string;
  workflowName: string;
  version: number;
  stepId: string;
  count: number;
}

/** Returns the active executions that can still reach a step that sends a template, in any version, by step. */
export async function executionsSending(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<ReachingExecutions[]> {
  const places = await listActiveInVersionsSending(database, projectId, templateId);
  return reaching(places, (step) => templateIdOf(step) === templateId);
}

function reaching(
  places: readonly ActivePlace[],
  isUse: (step: ActivePlace["graph"]["steps"][number]) => boolean,
): ReachingExecutions[] {
  const found = new Map<string, ReachingExecutions>();
  for (const { workflowId, workflowName, version, graph, stepId: from, executions } of places) {
    const ahead = stepsFrom(graph, from);
    for (const { id: stepId } of graph.steps.filter((step) => ahead.has(step.id) && isUse(step))) {
      const key = `${workflowId} ${version} ${stepId}`;
      const count = (found.get(key)?.count ?? 0) + executions;
      found.set(key, { workflowId, workflowName, version, stepId, count });
    }
  }
  return [...found.values()];
}

/** Returns the name of an enabled workflow that uses a segment, or of one with active executions that will, or undefined. */
export async function workflowOfSegment(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  const enabled = await findWorkflowOfSegment(database, projectId, segmentId);
  if (enabled !== undefined) return enabled;
  const places = await listActiveInVersionsOfSegment(database, projectId, segmentId);
  const leaving = places.find(({ graph }) => exitSegmentIds(graph.exitConditions ?? []).includes(segmentId));
  if (leaving !== undefined) return leaving.workflowName;
  return reaching(places, (step) => segmentIdsOfStep(step).includes(segmentId))[0]?.workflowName;
}

/** Returns the name of an enabled workflow that starts when contacts enter or leave a segment, or undefined. */
export async function workflowStartedBy(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  return findWorkflowStartedBy(database, projectId, segmentId);
}

/** Returns workflows that read a field (`data.plan`, `email`) in a condition, an exit condition or a delay, or write it. */
export async function workflowsNamingField(
  database: Database,
  projectId: string,
  field: string,
): Promise<NamedRow[]> {
  const key = field.startsWith("data.") ? field.slice("data.".length) : null;
  return listWorkflowsNamingField(database, projectId, { field, key });
}

/** Returns workflows that start or end with an event, wait for it, or check whether it happened. */
export async function listWorkflowsWithEvent(
  database: Database,
  projectId: string,
  eventName: string,
): Promise<NamedRow[]> {
  return listWorkflowsNamingEvent(database, projectId, eventName);
}

/** Dependencies of imports, exports and undos of contacts, from the folders after contacts/. */
export const contactFiles = { segmentsOfContact, executionsOfContact, undo: contactContext };

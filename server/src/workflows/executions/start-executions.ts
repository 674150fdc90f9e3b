// Starts executions for one contact immediately, and for a segment or a schedule's audience in the background.
import { addJob, asJobFailure, JobFailure, type JobStep } from "../../platform/background/jobs.ts";
import type { Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { contactExists } from "../../contacts/contacts.ts";
import { getSegmentRow } from "../../segments/segments.ts";
import { audienceOf, type Audience } from "../../campaigns/audience.ts";
import { enterWorkflows, readEnterable, type Enterable } from "./enter.ts";
import { listAudienceAfter } from "./entry-queries.ts";
import { requireWorkflow } from "./executions.ts";

/** Contacts that enter in one step of the job. */
const PAGE_SIZE = 1_000;

/** @throws AppError CONFLICT unless it is enabled */
async function requireEnabled(tx: Tx, projectId: string, workflowId: string): Promise<Enterable> {
  const [workflow] = await readEnterable(tx, projectId, { ids: [workflowId] });
  if (workflow === undefined)
    throw new AppError("CONFLICT", { message: "The workflow is not enabled. Enable it first." });
  return workflow;
}

/**
 * Starts an execution for a contact. Returns its id.
 * @throws AppError WORKFLOW_NOT_FOUND, CONTACT_NOT_FOUND, or CONFLICT if the workflow is disabled or the contact may not enter (again)
 */
export async function startExecution(
  tx: Tx,
  projectId: string,
  {
    workflowId,
    contactId,
    context,
  }: { workflowId: string; contactId: string; context: Record<string, unknown> },
): Promise<string> {
  await requireWorkflow(tx, projectId, workflowId);
  if (!(await contactExists(tx, projectId, contactId))) throw new AppError("CONTACT_NOT_FOUND");
  const workflow = await requireEnabled(tx, projectId, workflowId);
  const entry = { workflow, contactId, context };
  const [id = null] = await enterWorkflows(tx, projectId, [entry], { bounded: false });
  if (id !== null) return id;
  throw new AppError("CONFLICT", {
    message: workflow.allowReentry
      ? "The contact is in an active execution of this workflow and may enter again when that has ended."
      : "The contact has entered this workflow before, and re-entry is not allowed.",
  });
}

export const AUDIENCE_JOB = "workflows.start";

interface AudienceJob {
  workflowId: string;
  audience: Audience;
  context: Record<string, unknown>;
}

/**
 * Queues a job that lets the members of a segment enter. Returns the job id.
 * @throws AppError as in `startExecution`, SEGMENT_NOT_FOUND
 */
export async function startForSegment(
  tx: Tx,
  projectId: string,
  {
    workflowId,
    segmentId,
    context,
  }: { workflowId: string; segmentId: string; context: Record<string, unknown> },
): Promise<string> {
  await requireWorkflow(tx, projectId, workflowId);
  await getSegmentRow(tx, projectId, segmentId);
  const workflow = await requireEnabled(tx, projectId, workflowId);
  const audience: Audience = { audienceType: "SEGMENT", segmentId, audienceFilter: null };
  return startForAudience(tx, projectId, { workflowId: workflow.id, audience, context });
}

export async function startForAudience(tx: Tx, projectId: string, input: AudienceJob): Promise<string> {
  return addJob(tx, { projectId, kind: AUDIENCE_JOB, input });
}

interface Checkpoint {
  after: string;
  seen: number;
  started: number;
}

/** Lets one page of the audience enter. Fails the job if the workflow was disabled or deleted. */
export const audienceStep: JobStep = async (tx, { projectId, input, checkpoint }) => {
  const { workflowId, audience, context } = input as AudienceJob;
  const { after = null, seen = 0, started = 0 } = (checkpoint ?? {}) as Partial<Checkpoint>;
  const [workflow] = await readEnterable(tx, projectId, { ids: [workflowId] });
  if (workflow === undefined) throw new JobFailure("The workflow is no longer enabled.");
  const matches = await audienceOf(tx, projectId, audience).catch(asJobFailure);
  const contactIds = await listAudienceAfter(tx, projectId, matches, { after, limit: PAGE_SIZE });
  const entries = contactIds.map((contactId) => ({ workflow, contactId, context }));
  const ids = await enterWorkflows(tx, projectId, entries, { bounded: false });
  const now = { seen: seen + contactIds.length, started: started + ids.filter((id) => id !== null).length };
  const last = contactIds.at(-1);
  return last === undefined || contactIds.length < PAGE_SIZE
    ? { done: true, result: { totalContacts: now.seen, startedCount: now.started } }
    : { done: false, checkpoint: { ...now, after: last }, progress: 0 };
};

// Keeps the times of the trigger DATE current: for all contacts when a workflow is enabled or its trigger changes, and for each contact
// that changes.
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "../../platform/clock.ts";
import { addJob, type JobStep } from "../../platform/background/jobs.ts";
import type { Tx } from "../../platform/database/database.ts";
import { idTimeMs } from "../../platform/ids.ts";
import {
  deleteDates,
  deleteFormerDates,
  findTransactionId,
  haveEarlierEnded,
  listContactIdsAfter,
  lockDatedWorkflows,
  listDatesOf,
  lockDatedContacts,
  upsertDates,
  type DatedWorkflow,
  type DateRow,
} from "./date-queries.ts";
import { dateKeysOf, nextDateEntry } from "./times-at-dates.ts";

/** When a contact may have changed, and whether a call with a public key did it. */
interface Change {
  at: Date;
  fromPublicKey: boolean;
}

/**
 * Moves, adds and removes the times of contacts. A time before the change starts nothing, unless it was stored and is only overdue.
 * Locks the contacts until the end of the transaction.
 */
async function storeDates(
  tx: Tx,
  projectId: string,
  workflows: readonly DatedWorkflow[],
  changes: ReadonlyMap<string, Change>,
): Promise<void> {
  const keys = dateKeysOf(workflows.map(({ triggerConfig }) => triggerConfig));
  const contacts = await lockDatedContacts(tx, projectId, keys, [...changes.keys()]);
  if (contacts.length === 0) return;
  const stored = await listDatesOf(
    tx,
    projectId,
    contacts.map(({ id }) => id),
  );
  const rows = new Map(stored.map((row) => [`${row.workflowId} ${row.contactId}`, row]));
  const moved: DateRow[] = [];
  const removed: DateRow[] = [];
  for (const { id: contactId, values } of contacts) {
    const change = changes.get(contactId);
    if (change === undefined) continue;
    for (const workflow of workflows) {
      const row = rows.get(`${workflow.id} ${contactId}`);
      const next = nextRow(workflow, { contactId, values, row, change });
      if (next !== null && next !== row) moved.push(next);
      if (next === null && row !== undefined) removed.push({ ...row, since: workflow.datesSince });
    }
  }
  if (moved.length > 0) await upsertDates(tx, projectId, moved);
  if (removed.length > 0) await deleteDates(tx, projectId, removed);
}

/** Returns the row of a contact, the same one if it stays, or null if there is no later time. */
function nextRow(
  { id: workflowId, triggerConfig, datesSince }: DatedWorkflow,
  {
    contactId,
    values,
    row,
    change: { at, fromPublicKey },
  }: {
    contactId: string;
    values: Readonly<Record<string, unknown>>;
    row: DateRow | undefined;
    change: Change;
  },
): DateRow | null {
  if (row !== undefined && row.since.getTime() === datesSince.getTime()) {
    const same = nextDateEntry(triggerConfig, values, justBefore(row.dueAt));
    if (typeof same !== "string" && isEntryOf(same, row)) return row;
  }
  const next = nextDateEntry(triggerConfig, values, at > datesSince ? at : datesSince);
  if (typeof next === "string") return null;
  const { occursAt, dueAt } = next;
  return { workflowId, contactId, occursAt, dueAt, since: datesSince, fromPublicKey };
}

/** Returns the last millisecond before a time. */
export const justBefore = (at: Date): Date => new Date(at.getTime() - 1);

/** Returns whether a time is the one of a row. */
export function isEntryOf(
  entry: { occursAt: Date; dueAt: Date },
  row: Pick<DateRow, "occursAt" | "dueAt">,
): boolean {
  return entry.occursAt.getTime() === row.occursAt.getTime() && entry.dueAt.getTime() === row.dueAt.getTime();
}

/** An outbox event that was taken. */
interface Taken {
  id: string;
  contactId: string;
  /** Null if the contact itself changed. */
  eventName: string | null;
  fromPublicKey: boolean;
}

/** Events of these names do not change a contact. */
const NO_CHANGE = /^(?:email|segment)[.]/u;

/** Updates the times of contacts that may have changed. */
export async function followDates(tx: Tx, projectId: string, taken: readonly Taken[]): Promise<void> {
  const changes = new Map<string, Change>();
  for (const { id, contactId, eventName, fromPublicKey } of taken) {
    if (eventName !== null && NO_CHANGE.test(eventName)) continue;
    // The outbox events are in order. The first one counts, because after an outage it is unknown which one changed the date.
    const { at = new Date(idTimeMs(id)), fromPublicKey: before = false } = changes.get(contactId) ?? {};
    changes.set(contactId, { at, fromPublicKey: before || fromPublicKey });
  }
  if (changes.size === 0) return;
  const workflows = await lockDatedWorkflows(tx, projectId, null);
  if (workflows.length > 0) await storeDates(tx, projectId, workflows, changes);
}

export const DATES_JOB = "workflows.dates";

interface DatesJob {
  workflowId: string;
}

interface Checkpoint {
  /** Contacts changed by earlier transactions may have written no outbox event. */
  transactionId: string;
  after: string | null;
  /** Whether all contacts were processed. */
  isFilled: boolean;
}

/** Contacts of one step. Writers of one of these contacts wait for the step, which takes a fraction of a second. */
const PAGE_SIZE = 1_000;
const DELETED_A_STEP = 5_000;
/** How long the job waits for earlier transactions. All transactions that change contacts are shorter. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

/** Queues a job that stores the times of all contacts for an enabled trigger DATE, and deletes those of its earlier triggers. */
export async function addDatesJob(tx: Tx, projectId: string, workflowId: string): Promise<void> {
  const input: DatesJob = { workflowId };
  await addJob(tx, { projectId, kind: DATES_JOB, input });
}

/** Processes a page of contacts, then deletes rows of earlier triggers. */
export const datesStep: JobStep = async (tx, { projectId, input, checkpoint, createdAt }) => {
  const { workflowId } = input as DatesJob;
  if (checkpoint === null) {
    const first: Checkpoint = {
      transactionId: await findTransactionId(tx),
      after: null,
      isFilled: false,
    };
    return { done: false, checkpoint: first, progress: 0 };
  }
  const at = checkpoint as Checkpoint;
  const workflows = await lockDatedWorkflows(tx, projectId, workflowId);
  const [workflow] = workflows;
  if (workflow === undefined || at.isFilled) {
    const count = await deleteFormerDates(tx, { projectId, workflowId, limit: DELETED_A_STEP });
    if (count < DELETED_A_STEP) return { done: true, result: {} };
    return { done: false, checkpoint: { ...at, isFilled: true }, progress: 0 };
  }
  const isPatient = nowMs() - createdAt.getTime() < PATIENCE_MS;
  if (at.after === null && isPatient && !(await haveEarlierEnded(tx, at.transactionId))) {
    await sleep(PAUSE_MS);
    return { done: false, checkpoint: at, progress: 0 };
  }
  const page = { after: at.after, limit: PAGE_SIZE };
  const contactIds = await listContactIdsAfter(tx, projectId, page);
  const change: Change = { at: workflow.datesSince, fromPublicKey: false };
  await storeDates(tx, projectId, workflows, new Map(contactIds.map((id) => [id, change])));
  const isFilled = contactIds.length < PAGE_SIZE;
  return { done: false, checkpoint: { ...at, after: contactIds.at(-1) ?? at.after, isFilled }, progress: 0 };
};

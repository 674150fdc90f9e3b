// Names of events: which there are, where one is used, and the deletion of all events of a name.
// Before it: routes.ts. After it: a job deletes, a few thousand at a time.
import { isReservedEventName } from "@postloft/contract/event-names.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { addJob, type JobStep } from "../platform/jobs.ts";
import type { Database, Tx } from "../platform/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { countEventsOfName, deleteNamedEvents, listNamedEvents } from "./name-queries.ts";

export interface Named {
  id: string;
  name: string;
}

/** Who uses an event by its name; they stand further up in the reading order. */
export interface EventUsers {
  segments: (database: Database, projectId: string, eventName: string) => Promise<Named[]>;
  workflows: (database: Database, projectId: string, eventName: string) => Promise<Named[]>;
}

export async function listEventNames(database: Database, projectId: string) {
  const rows = await listNamedEvents(database, projectId, LIMITS.eventNames.value);
  const names = rows.map(({ name, count, last_seen_at: at }) => ({
    name,
    count,
    lastSeenAt: at.toISOString(),
  }));
  return { eventNames: names.map(({ name }) => name), names };
}

/** The most frequent first. */
export async function countEventsByName(database: Database, projectId: string) {
  const rows = await listNamedEvents(database, projectId, LIMITS.eventNames.value);
  return rows.map(({ name, count }) => ({ name, count })).toSorted((one, other) => other.count - one.count);
}

export async function readEventUsage(database: Database, users: EventUsers, projectId: string, name: string) {
  const usedInSegments = await users.segments(database, projectId, name);
  const usedInWorkflows = await users.workflows(database, projectId, name);
  const { count: totalCount, contacts: uniqueContacts } = await countEventsOfName(database, projectId, name);
  const isUsed = usedInSegments.length + usedInWorkflows.length > 0;
  return {
    usedInSegments,
    usedInWorkflows,
    totalCount,
    uniqueContacts,
    canDelete: !isUsed && !isReservedEventName(name),
  };
}

export const DELETE_EVENTS_JOB = "events.delete";
const BATCH_SIZE = 5_000;

/** Queues the deletion of all events of a name; answers how many there are. @throws Refusal CONFLICT while something uses it. */
export async function deleteEvents(
  tx: Tx,
  users: EventUsers,
  projectId: string,
  name: string,
): Promise<number> {
  if (isReservedEventName(name))
    throw new Refusal("CONFLICT", { message: "The service emits this event itself: it cannot be deleted." });
  const { usedInSegments, usedInWorkflows, totalCount } = await readEventUsage(tx, users, projectId, name);
  const [user] = [
    ...usedInSegments.map((one) => `the segment "${one.name}"`),
    ...usedInWorkflows.map((one) => `the workflow "${one.name}"`),
  ];
  if (user !== undefined)
    throw new Refusal("CONFLICT", { message: `It is used by ${user}: change that first.` });
  if (totalCount > 0) await addJob(tx, { projectId, kind: DELETE_EVENTS_JOB, input: { name } });
  return totalCount;
}

/** Deletes the next events that were there when it was asked for. */
export const deleteEventsStep: JobStep = async (tx, { projectId, input, createdAt, checkpoint }) => {
  const { name } = input as { name: string };
  const before = ((checkpoint ?? {}) as { deleted?: number }).deleted ?? 0;
  const count = await deleteNamedEvents(tx, projectId, { name, until: createdAt, limit: BATCH_SIZE });
  const deleted = before + count;
  return count < BATCH_SIZE
    ? { done: true, result: { deletedCount: deleted } }
    : { done: false, checkpoint: { deleted }, progress: 0 };
};

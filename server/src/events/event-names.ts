// Names of events: which there are, where one is used, and the deletion of all events of a name.
import { isReservedEventName } from "@postloft/contract/event-names.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { addJob, type JobStep } from "../platform/background/jobs.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { DELETE_EVENTS_JOB, deleteNamedEvents, findLastOfName } from "./deletion-queries.ts";
import { deleteCountsOfName } from "./count-changes-queries.ts";
import { countEventsOfName, listNamedEvents, listNewestData } from "./name-queries.ts";

export {
  DELETE_EVENTS_JOB,
  deletedUntil,
  listEventsBeingDeleted,
  notBeingDeleted,
} from "./deletion-queries.ts";

export interface Named {
  id: string;
  name: string;
}

/** Who uses an event by its name; they stand further up in the reading order. */
export interface EventUsers {
  segments: (database: Database, projectId: string, eventName: string) => Promise<Named[]>;
  workflows: (database: Database, projectId: string, eventName: string) => Promise<Named[]>;
}

/** PostgreSQL has no such text, so no event has the name. */
const isNoText = (name: string) => name.includes("\0");

/** The names there are in the order of the alphabet, and how many events each has. */
export async function listEventNames(database: Database, projectId: string) {
  const rows = await listNamedEvents(database, projectId, LIMITS.eventNames.value);
  const names = rows.map(({ name, count, lastSeenAt: at }) => ({
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

/** Where a name is used and how many events it has; all of them, so that a name nobody has tracked is no failure. */
export async function readEventUsage(database: Database, users: EventUsers, projectId: string, name: string) {
  if (isNoText(name))
    return { usedInSegments: [], usedInWorkflows: [], totalCount: 0, uniqueContacts: 0, canDelete: true };
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

const BATCH_SIZE = 5_000;

interface DeletionInput {
  name: string;
  /** The instant of the last event that goes, as PostgreSQL writes it. */
  until: string;
}

/**
 * Hides all events of a name at once and queues their deletion; returns how many there are. What is tracked afterwards stays:
 * the last event that is there sets the end, and no clock that could be another than that of who tracks.
 * @throws Refusal CONFLICT while something uses it, and for events of the service itself.
 */
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
  const until = totalCount === 0 ? null : await findLastOfName(tx, projectId, name);
  if (until === null) return 0;
  const input: DeletionInput = { name, until };
  await deleteCountsOfName(tx, projectId, name);
  await addJob(tx, { projectId, kind: DELETE_EVENTS_JOB, input });
  return totalCount;
}

/** Deletes the next events that were there when it was asked for. */
export const deleteEventsStep: JobStep = async (tx, { projectId, input, checkpoint }) => {
  const { name, until } = input as DeletionInput;
  const before = ((checkpoint ?? {}) as { deleted?: number }).deleted ?? 0;
  const count = await deleteNamedEvents(tx, projectId, { name, until, limit: BATCH_SIZE });
  const deleted = before + count;
  return count < BATCH_SIZE
    ? { done: true, result: { deletedCount: deleted } }
    : { done: false, checkpoint: { deleted }, progress: 0 };
};

/** Reads the type off a value (spec §2.3); contacts/ knows it, further up in the reading order. */
export type InferType<Type> = (value: unknown) => Type;

export interface EventField<Type> {
  field: string;
  type: Type;
  /** The newest value, where it is short. */
  example?: unknown;
}

/** The keys that the data of the newest events of a name have, in their order, each with the type of its newest value that is not null. */
export async function listEventFields<Type>(
  database: Database,
  projectId: string,
  name: string,
  inferType: InferType<Type>,
): Promise<Array<EventField<Type>>> {
  if (isNoText(name)) return [];
  const sample = await listNewestData(database, projectId, name, LIMITS.eventSample.value);
  const values = new Map<string, unknown>();
  for (const data of sample)
    for (const [key, value] of Object.entries(data ?? {}))
      if (value !== null && !values.has(key)) values.set(key, value);
  return [...values]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, LIMITS.eventFields.value)
    .map(([field, value]) => ({ field, type: inferType(value), ...exampleOf(value) }));
}

function exampleOf(value: unknown): { example?: unknown } {
  return JSON.stringify(value).length <= LIMITS.fieldValueLength.value ? { example: value } : {};
}

// Lists event names and their usage, and deletes all events of a name.
import { isReservedEventName } from "@postloft/contract/event-names.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { addJob, type JobStep } from "../platform/background/jobs.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
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

/** Uses of an event by its name, provided by later folders. */
export interface EventUsers {
  segments: (database: Database, projectId: string, eventName: string) => Promise<Named[]>;
  workflows: (database: Database, projectId: string, eventName: string) => Promise<Named[]>;
}

/** PostgreSQL text has no NUL, so no event can have this name. */
const isNoText = (name: string) => name.includes("\0");

/** Returns all names in alphabetical order with their event counts. */
export async function listEventNames(database: Database, projectId: string) {
  const rows = await listNamedEvents(database, projectId, LIMITS.eventNames.value);
  const names = rows.map(({ name, count, lastSeenAt: at }) => ({
    name,
    count,
    lastSeenAt: at.toISOString(),
  }));
  return { eventNames: names.map(({ name }) => name), names };
}

/** Returns the most frequent names first. */
export async function countEventsByName(database: Database, projectId: string) {
  const rows = await listNamedEvents(database, projectId, LIMITS.eventNames.value);
  return rows.map(({ name, count }) => ({ name, count })).toSorted((one, other) => other.count - one.count);
}

/** Returns the uses and the total count of a name. An unknown name is not an error. */
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
  /** The time of the last event to delete, in PostgreSQL's format. */
  until: string;
}

/**
 * Hides all events of a name immediately, queues their deletion, and returns their number. Events tracked later are kept. The last existing
 * event sets the end, so that differing clocks do not matter.
 * @throws AppError CONFLICT while the event is in use, and for events of the service.
 */
export async function deleteEvents(
  tx: Tx,
  users: EventUsers,
  projectId: string,
  name: string,
): Promise<number> {
  if (isReservedEventName(name))
    throw new AppError("CONFLICT", { message: "This event is emitted by the service and can't be deleted." });
  const { usedInSegments, usedInWorkflows, totalCount } = await readEventUsage(tx, users, projectId, name);
  const [segment] = usedInSegments;
  if (segment !== undefined)
    throw new AppError(
      "CONFLICT",
      withValues('This event is used by the segment "{name}". Change that first.', { name: segment.name }),
    );
  const [workflow] = usedInWorkflows;
  if (workflow !== undefined)
    throw new AppError(
      "CONFLICT",
      withValues('This event is used by the workflow "{name}". Change that first.', { name: workflow.name }),
    );
  const until = totalCount === 0 ? null : await findLastOfName(tx, projectId, name);
  if (until === null) return 0;
  const input: DeletionInput = { name, until };
  await deleteCountsOfName(tx, projectId, name);
  await addJob(tx, { projectId, kind: DELETE_EVENTS_JOB, input });
  return totalCount;
}

/** Deletes the next batch of events that existed at the request. */
export const deleteEventsStep: JobStep = async (tx, { projectId, input, checkpoint }) => {
  const { name, until } = input as DeletionInput;
  const before = ((checkpoint ?? {}) as { deleted?: number }).deleted ?? 0;
  const count = await deleteNamedEvents(tx, projectId, { name, until, limit: BATCH_SIZE });
  const deleted = before + count;
  return count < BATCH_SIZE
    ? { done: true, result: { deletedCount: deleted } }
    : { done: false, checkpoint: { deleted }, progress: 0 };
};

/** Infers the type of a value (spec §2.3). Provided by contacts/, which is later in the reading order. */
export type InferType<Type> = (value: unknown) => Type;

export interface EventField<Type> {
  field: string;
  type: Type;
  /** The newest value, if short. */
  example?: unknown;
}

/** Returns the data keys of the newest events of a name, sorted, each with the type of its newest non-null value. */
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

// Ends executions whose exit conditions hold after events or changes of their contacts, in the transaction that processes these.
import { AppError } from "../../platform/app-error.ts";
import type { Tx } from "../../platform/database/database.ts";
import { readReactedEvents } from "../../events/arrived-events.ts";
import { createFiller, FillError } from "../../rendering/fill-text.ts";
import { ANY_CHANGE } from "../../reactions/reactions.ts";
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { loadSegmentsFor, type SegmentSource } from "../../segments/filters/load-segments.ts";
import { cancelWebhookCalls } from "../../webhooks/webhook-calls.ts";
import { storeExecutions, storeTally } from "./advance.ts";
import { readKnownFields } from "./database-environment.ts";
import { openRun, type Execution, type NamedEvent } from "./execution.ts";
import { variablesOf } from "./execution-variables.ts";
import { exitFiltersOf, exitReasonOf } from "./exit-conditions.ts";
import { listVersionsLeftBy } from "./exit-queries.ts";
import { recordGoals } from "./goals.ts";
import { listVersionsAiming } from "./goal-queries.ts";
import { claimLeaving, type Claimed } from "./load-executions.ts";
import { exitAt, type Tally } from "./walk.ts";

/** An outbox event that was taken. */
interface Taken {
  contactId: string;
  /** Null if the contact itself changed. */
  eventName: string | null;
  eventId: string | null;
  emailId: string | null;
}

/** Executions checked by one set of statements. */
const PAGE_SIZE = 500;

/** Returns the names in `exit_names` that stand for an outbox event. */
function namesOf({ eventName }: Taken): string[] {
  if (eventName === null) return [ANY_CHANGE];
  return /^(?:email|segment)\./u.test(eventName) ? [eventName] : [eventName, ANY_CHANGE];
}

/** Ends executions and records goals because of these events. */
export async function applyExitsAndGoals(tx: Tx, projectId: string, taken: readonly Taken[]): Promise<void> {
  const names = taken.flatMap(({ eventName }) => eventName ?? []);
  const versions = await listVersionsAiming(tx, projectId, [...new Set(names)]);
  const aims = new Set(versions.map(({ goal }) => goal.eventName));
  const reaching = taken.filter(({ eventName }) => aims.has(eventName ?? ""));
  if (reaching.length > 0)
    await recordGoals(tx, projectId, { versions, events: await readEvents(tx, projectId, reaching) });
  await endByExitConditions(tx, projectId, taken);
}

/** Ends the executions of contacts that leave. Locks each that may leave, so that it takes no step meanwhile. */
async function endByExitConditions(tx: Tx, projectId: string, taken: readonly Taken[]): Promise<void> {
  const names = [...new Set(taken.flatMap(namesOf))];
  const versions = await listVersionsLeftBy(tx, projectId, names);
  if (versions.length === 0) return;
  const contactIds = [...new Set(taken.map(({ contactId }) => contactId))];
  let after: string | null = null;
  let events: Map<string, NamedEvent[]> | null = null;
  const tally: Tally = new Map();
  for (;;) {
    const claimed: Claimed[] = await claimLeaving(tx, projectId, {
      versions,
      contactIds,
      after,
      limit: PAGE_SIZE,
    });
    const last = claimed.at(-1);
    if (last === undefined) break;
    events ??= await readEvents(tx, projectId, taken);
    await endLeaving(tx, projectId, { claimed, events, tally });
    after = last.execution.id;
  }
  await storeTally(tx, projectId, tally);
}

/** Returns the events by contact. */
async function readEvents(
  tx: Tx,
  projectId: string,
  taken: readonly Taken[],
): Promise<Map<string, NamedEvent[]>> {
  const found = await readReactedEvents(tx, projectId, taken);
  const events = new Map<string, NamedEvent[]>();
  for (const { eventName, eventId, emailId, contactId } of taken) {
    const event = found.get(eventId ?? emailId ?? "");
    if (eventName === null || event === undefined) continue;
    const own = events.get(contactId) ?? [];
    own.push({ name: eventName, ...event });
    events.set(contactId, own);
  }
  return events;
}

async function endLeaving(
  tx: Tx,
  projectId: string,
  {
    claimed,
    events,
    tally,
  }: {
    claimed: readonly Claimed[];
    events: ReadonlyMap<string, readonly NamedEvent[]>;
    tally: Tally;
  },
): Promise<void> {
  // The engine ends those that were cancelled.
  const executions = claimed.flatMap(({ execution, cancelled }) => (cancelled === null ? [execution] : []));
  const [first] = claimed;
  if (executions.length === 0 || first === undefined) return;
  const check = await readFacts(tx, projectId, executions);
  const ended: Execution[] = [];
  const calls: string[] = [];
  for (const execution of executions) {
    const reason = check(execution, events.get(execution.contactId ?? "") ?? [], first.now);
    if (reason === null) continue;
    const callId = openRun(execution)?.out?.["callId"];
    if (typeof callId === "string") calls.push(callId);
    exitAt(execution, reason, first.now, tally);
    ended.push(execution);
  }
  if (ended.length === 0) return;
  await storeExecutions(tx, projectId, ended);
  await cancelWebhookCalls(
    tx,
    calls.map((id) => ({ projectId, id })),
  );
}

/** Returns a function that returns why an execution ends, or null. */
async function readFacts(tx: Tx, projectId: string, executions: readonly Execution[]) {
  const exitConditions = [...new Set(executions.map(({ graph }) => graph))].flatMap(
    (graph) => graph.exitConditions,
  );
  const filters = exitFiltersOf(exitConditions);
  const segments: ReadonlyMap<string, SegmentSource> = await loadSegmentsFor(tx, projectId, filters);
  const contactIds = [...new Set(executions.flatMap(({ contactId }) => contactId ?? []))];
  const contacts: ReadonlyMap<string, FilterContact> = await loadFilterContacts(tx, {
    projectId,
    contactIds,
    filters,
    segments,
  });
  const knownFields = await readKnownFields(tx, projectId, { steps: [], exitConditions });
  return (execution: Execution, events: readonly NamedEvent[], now: Date): string | null => {
    const contact = contacts.get(execution.contactId ?? "");
    if (contact === undefined) return null;
    const filler = createFiller(() => variablesOf(execution, contact, knownFields));
    try {
      return exitReasonOf(execution, { contact, events, segments, filler, now });
    } catch (error) {
      // Such a condition fails the execution before its next step, where people see it.
      if (error instanceof FillError || error instanceof AppError) return null;
      throw error;
    }
  };
}

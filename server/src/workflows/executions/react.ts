// Starts workflows, ends executions by exit conditions and resumes waiting ones when events happen or contacts change.
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { now } from "../../platform/clock.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import { markOfEmails, readReactedEvents } from "../../events/arrived-events.ts";
import { followDates } from "../dates/follow-dates.ts";
import { takeReactions, type Reaction } from "../../reactions/reactions.ts";
import { loadSegmentsFor } from "../../segments/filters/load-segments.ts";
import { enterWorkflows, readEnterable, type Enterable } from "./enter.ts";
import { updateWaitingExecutionsDue } from "./execution-queries.ts";
import { applyExitsAndGoals } from "./exit-executions.ts";
import { fits } from "./steps/wait-for-event.ts";

/** Events processed in one transaction. */
const BATCH_SIZE = 1_000;

type Named = Reaction & { eventName: string };

/**
 * Processes a batch of events of a project.
 * @returns whether there may be more
 */
export async function react(database: Database, projectId: string): Promise<boolean> {
  return transaction(database, async (tx) => reactOnce(tx, projectId));
}

/** {@link react} within an existing transaction. */
export async function reactOnce(tx: Tx, projectId: string): Promise<boolean> {
  const taken = await takeReactions(tx, { projectId, subscriber: "workflows", limit: BATCH_SIZE });
  const reactions = taken.filter((one): one is Named => one.eventName !== null);
  if (reactions.length > 0) {
    await start(tx, projectId, reactions);
    await updateWaitingExecutionsDue(tx, projectId, reactions);
  }
  // After the entries, because one batch may have the event that starts an execution and the one that ends it.
  if (taken.length > 0) await applyExitsAndGoals(tx, projectId, taken);
  // Locks contacts, so it comes last: the engine locks executions first.
  if (taken.length > 0) await followDates(tx, projectId, taken);
  if (reactions.length > 0) await failpoint("workflow.react");
  return taken.length === BATCH_SIZE;
}

/** Lets contacts enter the workflows that their events start, in the order of the events. */
async function start(tx: Tx, projectId: string, reactions: readonly Named[]): Promise<void> {
  const names = [...new Set(reactions.map(({ eventName }) => eventName))];
  const workflows = await readEnterable(tx, projectId, { events: names });
  if (workflows.length === 0) return;
  const started = Map.groupBy(workflows, ({ triggerEvent }) => triggerEvent ?? "");
  const starting = await markOfEmails(
    tx,
    projectId,
    reactions.filter(({ eventName }) => started.has(eventName)),
  );
  const events = await readReactedEvents(tx, projectId, starting);
  const filters = workflows.flatMap((workflow) => filterOf(workflow) ?? []);
  const segments = await loadSegmentsFor(tx, projectId, filters);
  const entries = starting.flatMap(({ eventName, eventId, emailId, contactId, fromPublicKey }) => {
    const { data: context = {}, at } = events.get(eventId ?? emailId ?? "") ?? {};
    return (started.get(eventName) ?? []).flatMap((workflow) => {
      const filter = filterOf(workflow);
      const isMeant = filter === undefined || fits(filter, { data: context, at: now() }, { segments }, now());
      return isMeant ? [{ workflow, contactId, context, at, fromPublicKey }] : [];
    });
  });
  if (entries.length > 0) await enterWorkflows(tx, projectId, entries, { bounded: true });
}

function filterOf({ triggerType, triggerConfig }: Enterable) {
  return triggerType === "EVENT" ? (triggerConfig as TriggerConfig<"EVENT">).filter : undefined;
}

// Subscribes workflows to the events that start them and to the events that their executions wait for.
import type { Tx } from "../platform/database/database.ts";
import { subscribeToEvents } from "../reactions/reactions.ts";
import { listAwaitedEvents } from "./subscription-queries.ts";

/** Call it after every change of a workflow's trigger, `enabled`, graph or set of versions. */
export async function subscribeWorkflows(tx: Tx, projectId: string): Promise<void> {
  await subscribeToEvents(tx, { projectId, subscriber: "workflows" }, () => listAwaitedEvents(tx, projectId));
}

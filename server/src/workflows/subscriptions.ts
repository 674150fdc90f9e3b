// Which events the workflows of a project wait for: what starts those that are enabled, and what executions under way wait for.
import type { Tx } from "../platform/database/database.ts";
import { subscribeToEvents } from "../reactions/reactions.ts";
import { listAwaitedEvents } from "./subscription-queries.ts";

/** Call it after every change of a workflow's trigger, of `enabled`, of its graph, or of the versions that are there. */
export async function subscribeWorkflows(tx: Tx, projectId: string): Promise<void> {
  await subscribeToEvents(tx, { projectId, subscriber: "workflows" }, () => listAwaitedEvents(tx, projectId));
}

// Decides whether and how the emails of a project or a campaign are sent. Other modules set the queues in their own transactions, so the
// sender reads no other tables (docs/decisions/0063-queues.md).
import type { Database, Tx } from "../../platform/database/database.ts";
import type { CampaignKey } from "./campaign-queries.ts";
import {
  deleteCampaignQueues,
  findProjectQueue,
  insertProjectQueue,
  updateOwnTransports,
  updateProjectQueue,
  updateProjectQueuesOpen,
  upsertCampaignQueues,
  type QueueRules,
} from "./queue-queries.ts";

export type { QueueRules } from "./queue-queries.ts";

/** Creates the open queue of a new project. */
export async function createProjectQueue(tx: Tx, projectId: string): Promise<void> {
  await insertProjectQueue(tx, projectId);
}

/** Starts or stops sending for projects and their campaigns, effective when the transaction commits. */
export async function openOrCloseProjectQueues(
  tx: Tx,
  projectIds: readonly string[],
  isOpen: boolean,
): Promise<void> {
  await updateProjectQueuesOpen(tx, projectIds, isOpen);
}

/** Changes how a project's emails are sent. Missing fields stay unchanged. */
export async function changeQueueRules(
  tx: Tx,
  projectId: string,
  changes: Partial<QueueRules>,
): Promise<void> {
  if (Object.keys(changes).length > 0) await updateProjectQueue(tx, projectId, changes);
}

/** Makes the sender choose transports again for every email that has not passed the pre-send check. Call after each change of them. */
export async function changeOwnTransports(tx: Tx, projectId: string, areAnyEnabled: boolean): Promise<void> {
  await updateOwnTransports(tx, projectId, areAnyEnabled);
}

/** Returns whether a project checks its suppression list. */
export async function usesSuppressionList(database: Database, projectId: string): Promise<boolean> {
  return (await findProjectQueue(database, projectId))?.suppressionList === true;
}

/** `OPEN` sends emails, `PAUSED` keeps them waiting, `CLOSED` drops them, and `null` means that none is waiting. */
export type CampaignQueueState = "OPEN" | "PAUSED" | "CLOSED" | null;

/** Sets whether the emails of campaigns are sent. */
export async function setCampaignQueues(
  tx: Tx,
  campaigns: ReadonlyArray<CampaignKey & { state: CampaignQueueState }>,
): Promise<void> {
  const kept = campaigns.flatMap(({ state, ...key }) => (state === null ? [] : [{ ...key, state }]));
  const ended = campaigns.filter(({ state }) => state === null);
  if (kept.length > 0) await upsertCampaignQueues(tx, kept);
  if (ended.length > 0) await deleteCampaignQueues(tx, ended);
}

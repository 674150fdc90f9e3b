// The queues of the outbox: whether the mail of a project, or of a campaign, may leave, and how. Whoever decides that says it here, in the
// transaction of its decision, so that the sender asks nobody else (docs/decisions/0063-queues.md).
import type { Database, Tx } from "../../platform/database.ts";
import type { CampaignKey } from "./campaign-queries.ts";
import {
  deleteCampaignQueues,
  findProjectQueue,
  insertProjectQueue,
  updateProjectQueue,
  updateProjectQueuesOpen,
  upsertCampaignQueues,
  type QueueRules,
} from "./queue-queries.ts";

export type { QueueRules } from "./queue-queries.ts";

/** The queue of a new project, open. */
export async function createProjectQueue(tx: Tx, projectId: string): Promise<void> {
  await insertProjectQueue(tx, projectId);
}

/** From the commit on mail of these projects leaves, or none does, that of their campaigns included. */
export async function openOrCloseProjectQueues(
  tx: Tx,
  projectIds: readonly string[],
  isOpen: boolean,
): Promise<void> {
  await updateProjectQueuesOpen(tx, projectIds, isOpen);
}

/** Changes how the mail of a project leaves; what is left out stays. */
export async function changeQueueRules(
  tx: Tx,
  projectId: string,
  changes: Partial<QueueRules>,
): Promise<void> {
  if (Object.keys(changes).length > 0) await updateProjectQueue(tx, projectId, changes);
}

/** Whether a project looks at its suppression list. */
export async function usesSuppressionList(database: Database, projectId: string): Promise<boolean> {
  return (await findProjectQueue(database, projectId))?.suppressionList === true;
}

/** `OPEN`: its mails leave; `PAUSED`: they wait; `CLOSED`: they are dropped; `null`: none waits any more. */
export type CampaignQueueState = "OPEN" | "PAUSED" | "CLOSED" | null;

/** Says of campaigns whether their mails leave. */
export async function setCampaignQueues(
  tx: Tx,
  campaigns: ReadonlyArray<CampaignKey & { state: CampaignQueueState }>,
): Promise<void> {
  const kept = campaigns.flatMap(({ state, ...key }) => (state === null ? [] : [{ ...key, state }]));
  const ended = campaigns.filter(({ state }) => state === null);
  if (kept.length > 0) await upsertCampaignQueues(tx, kept);
  if (ended.length > 0) await deleteCampaignQueues(tx, ended);
}

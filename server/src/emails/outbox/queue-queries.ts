// Queries on `project_queues` and `campaign_queues`.
import { sql } from "kysely";
import type { TrackingMode } from "@postloft/contract/projects.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";
import type { CampaignKey } from "./campaign-queries.ts";

/** How the emails of a project are sent. */
export interface QueueRules {
  /** Emails per second, or null for no limit. */
  sendingRate: number | null;
  tracking: TrackingMode;
  whenInDoubt: "RETRY" | "WAIT";
  /** Whether emails to addresses on the suppression list are skipped. */
  suppressionList: boolean;
}

export async function insertProjectQueue(tx: Tx, projectId: string): Promise<void> {
  await tx.insertInto("project_queues").values({ projectId }).execute();
}

export async function updateProjectQueuesOpen(
  tx: Tx,
  projectIds: readonly string[],
  isOpen: boolean,
): Promise<void> {
  await sql`
    update project_queues set is_open = ${isOpen} where project_id = any(${projectIds}::uuid[])`.execute(tx);
  if (isOpen) notify(tx, "emails");
}

export async function updateProjectQueue(
  tx: Tx,
  projectId: string,
  changes: Partial<QueueRules>,
): Promise<void> {
  await tx.updateTable("project_queues").set(changes).where("projectId", "=", projectId).execute();
}

/** Stores whether a project has enabled transports. Writes the row in any case, because its version names the transports. */
export async function updateOwnTransports(tx: Tx, projectId: string, ownTransports: boolean): Promise<void> {
  await tx.updateTable("project_queues").set({ ownTransports }).where("projectId", "=", projectId).execute();
  notify(tx, "emails");
}

export async function findProjectQueue(database: Database, projectId: string) {
  return database
    .selectFrom("project_queues")
    .select("suppressionList")
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

/** Sort the keys, so that two transactions that change the same queues cannot deadlock. */
const keysOf = (keys: readonly CampaignKey[]) => sql`
  ${keys.map(({ projectId }) => projectId)}::uuid[], ${keys.map(({ campaignId }) => campaignId)}::uuid[]`;

export async function upsertCampaignQueues(
  tx: Tx,
  campaigns: ReadonlyArray<CampaignKey & { state: string }>,
): Promise<void> {
  await sql`
    insert into campaign_queues (project_id, campaign_id, state)
    select * from unnest(${keysOf(campaigns)}, ${campaigns.map(({ state }) => state)}::text[]) as i (project_id, campaign_id, state)
    order by project_id, campaign_id
    on conflict (project_id, campaign_id) do update set state = excluded.state`.execute(tx);
  if (campaigns.some(({ state }) => state === "OPEN")) notify(tx, "emails");
}

export async function deleteCampaignQueues(tx: Tx, campaigns: readonly CampaignKey[]): Promise<void> {
  await sql`
    delete from campaign_queues q using unnest(${keysOf(campaigns)}) as i (project_id, campaign_id)
    where q.project_id = i.project_id and q.campaign_id = i.campaign_id`.execute(tx);
}

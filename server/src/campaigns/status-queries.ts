// Where campaigns stand, read for what follows their status.
import { sql } from "kysely";
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { Tx } from "../platform/database/database.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";

/** Where campaigns stand, as far as their queues follow it. */
export async function listStates(
  tx: Tx,
  keys: readonly CampaignKey[],
): Promise<Array<CampaignKey & { status: CampaignStatus; isOver: boolean }>> {
  const { rows } = await sql<CampaignKey & { status: CampaignStatus; isOver: boolean }>`
    select c.project_id, c.id as campaign_id, c.status, c.finished_at is not null as is_over
    from unnest(${keys.map(({ projectId }) => projectId)}::uuid[], ${keys.map(({ campaignId }) => campaignId)}::uuid[])
      as i (project_id, id)
    join campaigns c on c.project_id = i.project_id and c.id = i.id`.execute(tx);
  return rows;
}

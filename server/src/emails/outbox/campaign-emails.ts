// Snapshots, counts, drops and requeues the emails of a whole campaign.
import type * as contract from "@postloft/contract/campaign-actions.ts";
import type { counters } from "@postloft/contract/campaigns.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { RawBuilder } from "kysely";
import type { z } from "zod";
import type { Database, Tx } from "../../platform/database/database.ts";
import { toPage, type Page, type PageRequest } from "../../platform/http/page.ts";
import { insertRecipientBatches, skipBatches, BATCH_SIZE } from "./batch-queries.ts";
import {
  countCampaignEmails,
  countRefusedEmails,
  countEmailsByProvider,
  hasPendingEmails,
  listCampaignEmails,
  hasRedactedFailures,
  requeueFailedEmails,
  skipCampaignEmails,
  type CampaignKey,
  type ProviderCounts,
  type RecipientRow,
} from "./campaign-queries.ts";
import { storeContents, type EmailContent } from "./emails.ts";
import { readEmailCounts, type EmailCounts } from "../results/email-counts.ts";
import type { ContactsThere } from "../rows/recipients.ts";

export type { CampaignKey, ProviderCounts } from "./campaign-queries.ts";

/**
 * Fixes the recipients of a campaign, one email per row of a query of `contact_id` and `email`. Returns their number. Call it once per
 * campaign.
 */
export async function snapshotRecipients(
  tx: Tx,
  key: CampaignKey,
  content: EmailContent,
  recipients: RawBuilder<unknown>,
): Promise<number> {
  await storeContents(tx, [content]);
  return insertRecipientBatches(tx, key, content.id, recipients);
}

export type CampaignCounts = z.output<typeof counters>;

/** Returns the counts of campaigns, in the order of `campaignIds` (decisions §8). */
export async function countRecipients(
  database: Database,
  projectId: string,
  campaignIds: readonly string[],
): Promise<CampaignCounts[]> {
  const all = await readEmailCounts(database, projectId, campaignIds);
  const withFailures = campaignIds.filter((_id, at) => (all[at]?.failed ?? 0) > 0);
  const refused =
    withFailures.length === 0 ? [] : await countRefusedEmails(database, projectId, withFailures);
  const byCampaign = new Map(refused.map((one) => [one.campaignId, one]));
  return all.map((counts, at) =>
    presentCounts(counts, byCampaign.get(campaignIds[at] ?? "") ?? NONE_REFUSED),
  );
}

const NONE_REFUSED = { refused: 0, hard: 0 };

function presentCounts(counts: EmailCounts, { refused, hard }: typeof NONE_REFUSED): CampaignCounts {
  const { recipients, sent, failed, skipped, unconfirmed } = counts;
  return {
    totalRecipients: recipients,
    sentCount: sent,
    failedCount: failed,
    skippedCount: skipped,
    unconfirmedCount: unconfirmed,
    // Recipients in batches, and emails that are queued or claimed.
    pendingCount: recipients - sent - failed - skipped - unconfirmed,
    deliveredCount: counts.delivered,
    openedCount: counts.opened,
    clickedCount: counts.clicked,
    bouncedCount: counts.bounced + hard,
    refusedCount: refused,
    complainedCount: counts.complained,
    unsubscribedCount: counts.unsubscribed,
  };
}

/** Counts the sent emails of a campaign by receiving provider, largest first. */
export async function countByProvider(database: Database, key: CampaignKey): Promise<ProviderCounts[]> {
  return countEmailsByProvider(database, key);
}

/** Returns whether an email of the campaign may still be sent. */
export async function hasPendingRecipients(database: Database, key: CampaignKey): Promise<boolean> {
  return hasPendingEmails(database, key);
}

/**
 * Drops about `limit` waiting emails of a campaign. Returns how many, or 0 if none waits. Emails already in submission are not affected.
 */
export async function dropRecipients(
  tx: Tx,
  key: CampaignKey,
  reason: string,
  { limit, contactsThere }: { limit: number; contactsThere: ContactsThere },
): Promise<number> {
  const dropped = await skipCampaignEmails(tx, key, reason, limit);
  return (
    dropped +
    (await skipBatches(tx, key, reason, { limit: Math.ceil((limit - dropped) / BATCH_SIZE), contactsThere }))
  );
}

/**
 * Requeues the failed emails of a campaign that are not redacted. Returns how many. `hasForgotten` is checked only if none was requeued,
 * and says whether other failed emails have been redacted.
 */
export async function retryFailedRecipients(
  tx: Tx,
  key: CampaignKey,
): Promise<{ queued: number; hasForgotten: boolean }> {
  const queued = await requeueFailedEmails(tx, key);
  return { queued, hasForgotten: queued === 0 && (await hasRedactedFailures(tx, key)) };
}

export type RecipientView = z.output<typeof contract.recipient>;

const at = (instant: Date | null) => instant?.toISOString() ?? null;

function present(row: RecipientRow): RecipientView {
  return {
    id: row.id,
    contactId: row.contactId,
    email: row.toAddress,
    status: row.status,
    reason: row.reason,
    attempts: row.attempts,
    sentAt: at(row.sentAt),
    deliveredAt: at(row.deliveredAt),
    openedAt: at(row.openedAt),
    clickedAt: at(row.clickedAt),
    bouncedAt: at(row.bouncedAt),
    complainedAt: at(row.complainedAt),
  };
}

/** Lists recipients with the state of each email. `total` is counted on the first page only. */
export async function listRecipients(
  database: Database,
  key: CampaignKey,
  status: EmailStatus | undefined,
  request: PageRequest,
): Promise<Page<RecipientView> & { total: number }> {
  const rows = await listCampaignEmails(database, key, status, request);
  const total = request.before === null ? await countCampaignEmails(database, key, status) : 0;
  return { ...toPage("recipients", request, rows, present), total };
}

// Background work of campaigns: starts due ones, pauses those with too many rejections, finishes complete ones, drops cancelled emails, and
// audits the counts.
import { domainOf } from "@postloft/contract/address.ts";
import { holdFor, type HeldReason } from "@postloft/contract/held-reasons.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoints.ts";
import { countRecipients, dropRecipients, hasPendingRecipients } from "../emails/outbox/campaign-emails.ts";
import { findWrongCounts } from "../emails/results/email-counts.ts";
import { pauseDestination } from "../emails/throttling/throttled-domains.ts";
import type { Domains } from "../domains/domains.ts";
import { requireVerifiedSender } from "../templates/templates.ts";
import { AppError } from "../platform/app-error.ts";
import { CONTACT_CHECKS } from "../contacts/recipients.ts";
import { moveCampaign, moveCampaigns } from "./sync-queue.ts";
import { pauseAutomatically, type PauseDependencies } from "./pause-automatically.ts";
import { pauseDoubtfulCampaigns } from "./pause-in-doubt.ts";
import { findCampaign, findCampaignForUpdate } from "./queries.ts";
import { MISSED_MS, REJECTION_LIMIT, refusingDestination, TRANSITIONS } from "./rules.ts";
import { settleThrottledDomains } from "./settle-paused.ts";
import { addSnapshotJob } from "./send-campaign.ts";
import {
  listDueCampaigns,
  listRefusedCampaigns,
  listToAudit,
  listUnfinished,
  readNextDueMs,
  updateHeld,
  type CampaignRef,
} from "./settle-queries.ts";
import { isDue, type Transition } from "./status-queries.ts";

/** Poll intervals while a campaign is active, and while none is. */
const BUSY_POLL_MS = 1_000;
const POLL_MS = 5_000;
const AUDIT_EVERY_MS = 60_000;
const DUE_AT_ONCE = 100;
const DROP_BATCH = 5_000;
const CANCELLED_REASON = recordedReason("campaignCancelled");

export interface SettlerOptions extends PauseDependencies {
  database: Database;
  domains: Domains;
}

/** Starts due campaigns, by the database's clock. Holds those that are too late or not allowed to send. */
async function startDueCampaigns({ database, domains, log }: SettlerOptions): Promise<number> {
  let started = 0;
  for (const due of await listDueCampaigns(database, DUE_AT_ONCE)) {
    const ids = { projectId: due.projectId, campaignId: due.id };
    const reason =
      due.lateMs > MISSED_MS ? holdFor("held.missed") : await reasonNotToSend(database, domains, due);
    if (reason === null) {
      if (await startDue(database, due)) started++;
    } else if (await updateHeld(database, due, reason))
      log.warn({ ...ids, reason: reason.text }, "campaign held");
  }
  return started;
}

async function reasonNotToSend(
  database: Database,
  domains: Domains,
  due: CampaignRef,
): Promise<HeldReason | null> {
  const row = await findCampaign(database, due.projectId, due.id);
  try {
    await transaction(database, (tx) => requireVerifiedSender(tx, domains, due.projectId, row?.fromAddress));
    return null;
  } catch (error) {
    if (error instanceof AppError)
      return holdFor("held.sender", { domain: domainOf(row?.fromAddress ?? "") });
    throw error;
  }
}

async function startDue(database: Database, { projectId, id: campaignId }: CampaignRef): Promise<boolean> {
  return transaction(database, async (tx) => {
    const condition = isDue({ projectId, campaignId });
    const started = await moveCampaigns(tx, condition, TRANSITIONS.startDue, { startedAt: "now" });
    if (started.length > 0) await addSnapshotJob(tx, projectId, campaignId);
    return started.length > 0;
  });
}

/** Pauses campaigns with too many rejections because of the sender, and notifies the members of their projects. */
export async function pauseRefusedCampaigns({
  database,
  ...parts
}: PauseDependencies & { database: Database }): Promise<void> {
  for (const campaign of await listRefusedCampaigns(database, REJECTION_LIMIT)) {
    const destination = refusingDestination(campaign.domains);
    const { projectId, id: campaignId, sendingSince, answer } = campaign;
    // If one destination among several rejects, only its emails wait.
    if (
      destination !== null &&
      (await pauseDestination(database, { projectId, campaignId, destination, answer }))
    )
      continue;
    const cause = { problem: "refused", last: REJECTION_LIMIT.last, answer } as const;
    const pause = { projectId, campaignId, sendingSince, cause };
    await transaction(database, (tx) => pauseAutomatically(tx, parts, pause));
  }
}

/** Finishes campaigns without waiting emails, after dropping those of cancelled ones. An error affects only its campaign. */
async function finishCampaigns({ database, log }: SettlerOptions): Promise<void> {
  for (const { projectId, id, status } of await listUnfinished(database)) {
    const key = { projectId, campaignId: id };
    try {
      if (status === "CANCELLED") await drop(database, key);
      const finish = status === "CANCELLED" ? TRANSITIONS.finishCancelled : TRANSITIONS.finish;
      if (await finishCampaign(database, key, finish))
        log.info({ ...key, status: finish.to }, "campaign ended");
    } catch (error) {
      log.warn({ err: error, ...key }, "failed to end a campaign, retrying");
    }
  }
}

async function finishCampaign(
  database: Database,
  key: { projectId: string; campaignId: string },
  finish: Transition,
): Promise<boolean> {
  if (await hasPendingRecipients(database, key)) return false;
  return transaction(database, async (tx) => {
    // Checked again under the lock that a retry takes too.
    const row = await findCampaignForUpdate(tx, key.projectId, key.campaignId);
    if (row === undefined || (await hasPendingRecipients(tx, key))) return false;
    await failpoint("finish.before");
    return moveCampaign(tx, key, finish, { finishedAt: "now" });
  });
}

async function drop(database: Database, key: { projectId: string; campaignId: string }): Promise<void> {
  let dropped = 1;
  while (dropped > 0)
    dropped = await transaction(database, (tx) =>
      dropRecipients(tx, key, CANCELLED_REASON, { limit: DROP_BATCH, ...CONTACT_CHECKS }),
    );
}

/** Checks that each campaign has as many emails as recipients (promise P4) and counts as many. Returns those that do not. */
async function auditCampaigns({ database, log, metrics }: SettlerOptions): Promise<CampaignRef[]> {
  const wrong: CampaignRef[] = [];
  for (const campaign of await listToAudit(database)) {
    const { projectId, id, totalRecipients, status } = campaign;
    const [counts] = await countRecipients(database, projectId, [id]);
    const isOpen = status === "SENT" && (counts?.pendingCount ?? 0) > 0;
    const [recount] = await findWrongCounts(database, projectId, id);
    if (counts?.totalRecipients === totalRecipients && !isOpen && recount === undefined) continue;
    wrong.push({ projectId, id });
    const differences = recount?.differences ?? [];
    log.error(
      { projectId, campaignId: id, totalRecipients, counts, differences },
      "campaign counts do not add up",
    );
  }
  metrics.unbalancedCampaigns.set(wrong.length);
  return wrong;
}

/** Runs all of this every second while campaigns are active, until stopped. Any number of processes may run this. */
export function startSettlingCampaigns(options: SettlerOptions): Loop {
  const { database, log, metrics } = options;
  async function runOnce(): Promise<number> {
    const nextMs = await readNextDueMs(database);
    if (nextMs === null) return POLL_MS;
    if (nextMs > 0) return nextMs;
    await startDueCampaigns(options);
    await pauseRefusedCampaigns(options);
    await pauseDoubtfulCampaigns(options);
    await settleThrottledDomains(options);
    await finishCampaigns(options);
    return BUSY_POLL_MS;
  }
  return startLoop({
    name: "campaigns",
    runOnce,
    everyMs: POLL_MS,
    notifiedBy: { database, topic: "campaigns" },
    log,
    metrics,
  });
}

/** Audits the counts of campaigns every minute until stopped. */
export function startAuditingCampaigns(options: SettlerOptions): Loop {
  const { log, metrics } = options;
  return startLoop({
    name: "campaign books",
    runOnce: async () => void (await auditCampaigns(options)),
    everyMs: AUDIT_EVERY_MS,
    delayMs: AUDIT_EVERY_MS,
    log,
    metrics,
  });
}

// Sends, schedules, cancels, pauses, resumes and retries. Each is one conditional UPDATE, so that only one of several concurrent callers
// succeeds (decisions §8).
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import { asChecked, type Checked } from "../platform/checked.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { addJob } from "../platform/background/jobs.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { retryFailedRecipients } from "../emails/outbox/campaign-emails.ts";
import { releaseDestinations } from "../emails/throttling/throttled-domains.ts";
import { lockProject } from "../projects/projects.ts";
import { requireRoom } from "../billing/caps.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { checkContent } from "../templates/check-content.ts";
import { requireVerifiedSender } from "../templates/templates.ts";
import { audienceOf, audienceOfRow, eligible } from "./audience.ts";
import { getCampaign, getCampaignRow, type CampaignDependencies } from "./campaigns.ts";
import type { CampaignView } from "./present-campaign.ts";
import { requireFinished, type LintParts } from "./content-blocks.ts";
import { moveCampaign } from "./sync-queue.ts";
import { isInFuture, type CampaignRow } from "./queries.ts";
import { TRANSITIONS } from "./rules.ts";
import type { StatusChange, Transition } from "./status-queries.ts";

/** The job that fixes the recipients. */
export const SNAPSHOT_JOB = "campaigns.snapshot";

/** A campaign as it was checked, and its start time; null for now. */
export interface CampaignStart {
  campaign: CampaignRow;
  at: Date | null;
}

/**
 * Checks everything that would prevent sending, except what can change until the campaign starts.
 * @param options.confirmed codes of findings that the caller accepts
 * @throws AppError CAMPAIGN_NOT_FOUND, CAMPAIGN_NOT_READY, CONFLICT, VALIDATION_ERROR (time, content)
 */
export async function checkStart(
  database: Database,
  { renderer, linter }: LintParts,
  projectId: string,
  id: string,
  { scheduledFor, confirmed }: { scheduledFor: string | null; confirmed: readonly string[] },
): Promise<Checked<CampaignStart>> {
  const campaign = await getCampaignRow(database, projectId, id);
  refuseState(campaign, TRANSITIONS.send);
  const at = scheduledFor === null ? null : new Date(scheduledFor);
  if (at !== null && !(await isInFuture(database, at)))
    throw invalidField("scheduledFor", "invalid_date", "Must be in the future.");
  const { subject, previewText, body: html } = campaign;
  const content = { subject, previewText, html, text: null };
  await checkContent(renderer, projectId, content, campaign.kind === "MARKETING");
  await requireFinished(database, linter, projectId, campaign, confirmed);
  return asChecked({ campaign, at });
}

/**
 * Starts or schedules a campaign.
 * @throws AppError CONFLICT, DOMAIN_NOT_VERIFIED, BILLING_LIMIT_EXCEEDED, or VALIDATION_ERROR for the audience
 */
export async function sendCampaign(
  tx: Tx,
  { domains }: CampaignDependencies,
  projectId: string,
  { campaign, at }: Checked<CampaignStart>,
): Promise<CampaignView> {
  // Serializes with the deletion of segments: either the segment is already gone, or the deletion sees it in use.
  await lockProject(tx, projectId);
  const row = await getCampaignRow(tx, projectId, campaign.id);
  requireSameContent(campaign, row);
  await requireVerifiedSender(tx, domains, projectId, row.fromAddress);
  await requireRecipients(tx, projectId, row);
  if (at === null) await start(tx, projectId, row);
  else await move(tx, projectId, row, TRANSITIONS.schedule, { scheduledFor: at });
  return getCampaign(tx, projectId, row.id);
}

/**
 * Checks that no other caller changed the campaign during the checks.
 * @throws AppError CONFLICT
 */
function requireSameContent(checked: CampaignRow, { subject, body, kind }: CampaignRow): void {
  if (checked.subject === subject && checked.body === body && checked.kind === kind) return;
  throw new AppError("CONFLICT", { message: "The campaign was changed during the check. Try again." });
}

async function start(tx: Tx, projectId: string, row: CampaignRow): Promise<void> {
  await move(tx, projectId, row, TRANSITIONS.send, { startedAt: "now" });
  await addSnapshotJob(tx, projectId, row.id);
}

/** Queues the snapshot in the transaction that starts the campaign, so that a sending campaign always gets its recipients. */
export async function addSnapshotJob(tx: Tx, projectId: string, campaignId: string): Promise<void> {
  await addJob(tx, { projectId, kind: SNAPSHOT_JOB, input: { campaignId } });
}

async function requireRecipients(tx: Tx, projectId: string, row: CampaignRow): Promise<void> {
  const audience = await audienceOf(tx, projectId, audienceOfRow(row));
  const matches = await eligible(tx, projectId, row.kind as CampaignKind, audience);
  const count = await countMatching(tx, projectId, matches);
  if (count > 0) return requireRoom(tx, projectId, "campaigns", count);
  const field = { ALL: "audienceType", SEGMENT: "segmentId", FILTERED: "audienceFilter" }[row.audienceType];
  throw invalidField(field ?? "audienceType", "custom", "The audience is empty.");
}

/** Turns a scheduled campaign into a draft. Of a sending campaign the unsent emails are dropped. */
export async function cancelCampaign(tx: Tx, projectId: string, id: string): Promise<CampaignView> {
  const row = await getCampaignRow(tx, projectId, id);
  if (
    await moveCampaign(tx, { projectId, campaignId: row.id }, TRANSITIONS.unschedule, { scheduledFor: null })
  )
    return getCampaign(tx, projectId, row.id);
  await move(tx, projectId, row, TRANSITIONS.cancel);
  return getCampaign(tx, projectId, row.id);
}

export async function pauseCampaign(tx: Tx, projectId: string, id: string): Promise<CampaignView> {
  return change(tx, projectId, id, TRANSITIONS.pause);
}

/**
 * Resumes a campaign. Queues the snapshot again if it has no recipients, because that job may have failed; a second snapshot does nothing.
 */
export async function resumeCampaign(tx: Tx, projectId: string, id: string): Promise<CampaignView> {
  const row = await getCampaignRow(tx, projectId, id);
  await move(tx, projectId, row, TRANSITIONS.resume);
  if (row.snapshotAt === null) await addSnapshotJob(tx, projectId, row.id);
  return getCampaign(tx, projectId, row.id);
}

/**
 * Releases a throttled destination, or all of them if null.
 * @throws AppError CONFLICT if none is throttled
 */
export async function releaseCampaign(
  tx: Tx,
  projectId: string,
  id: string,
  destination: string | null,
): Promise<CampaignView> {
  const row = await getCampaignRow(tx, projectId, id);
  await releaseDestinations(tx, { projectId, campaignId: row.id }, destination);
  return getCampaign(tx, projectId, row.id);
}

/**
 * Queues only the failed emails again.
 * @throws AppError CONFLICT if none failed, or all of them are redacted
 */
export async function retryFailed(tx: Tx, projectId: string, id: string): Promise<CampaignView> {
  const row = await getCampaignRow(tx, projectId, id);
  await move(tx, projectId, row, TRANSITIONS.retry, { finishedAt: null });
  const { queued, hasForgotten } = await retryFailedRecipients(tx, { projectId, campaignId: row.id });
  if (queued === 0)
    throw new AppError("CONFLICT", {
      message: hasForgotten
        ? "The failed emails can't be sent again, because their content was deleted after `emailRetentionDays`."
        : "The campaign has no failed emails to retry.",
    });
  return getCampaign(tx, projectId, row.id);
}

async function change(tx: Tx, projectId: string, id: string, transition: Transition): Promise<CampaignView> {
  const row = await getCampaignRow(tx, projectId, id);
  await move(tx, projectId, row, transition);
  return getCampaign(tx, projectId, row.id);
}

async function move(
  tx: Tx,
  projectId: string,
  row: CampaignRow,
  transition: Transition,
  set: StatusChange = {},
): Promise<void> {
  if (await moveCampaign(tx, { projectId, campaignId: row.id }, transition, set)) return;
  // Read again: another caller may have moved it since.
  refuseState(await getCampaignRow(tx, projectId, row.id), transition);
  throw new AppError("CONFLICT");
}

function refuseState(row: CampaignRow, { from }: Transition): void {
  if (from.some((status) => status === row.status)) return;
  throw new AppError(
    "CONFLICT",
    withValues("The campaign is {status}. This is only possible while it is {allowed}.", {
      status: row.status,
      allowed: from.join(" or "),
    }),
  );
}

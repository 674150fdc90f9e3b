// Fixes the recipients of a campaign in one statement when it starts. Runs as a job, so that another process repeats it after a crash.
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import { limitStatements, type Tx } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoints.ts";
import { asJobFailure, type JobStep } from "../platform/background/jobs.ts";
import { snapshotRecipients } from "../emails/outbox/campaign-emails.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { recipientsOf } from "../contacts/recipients.ts";
import { makeContent } from "../emails/outbox/emails.ts";
import { sentParts } from "../templates/sent-parts.ts";
import { audienceOf, audienceOfRow, countExcluded, eligible } from "./audience.ts";
import type { PauseDependencies } from "./pause-automatically.ts";
import { pauseOverCap } from "./pause-over-cap.ts";
import { findCampaignForUpdate, updateSnapshot, type CampaignRow } from "./queries.ts";

/** A million rows take longer than the usual statement timeout. */
const SNAPSHOT_TIMEOUT_MS = 10 * 60_000;

/**
 * Job step that gives a started campaign its recipients, unless a cap leaves no room. Skips campaigns that have recipients or are not
 * started.
 */
export function createSnapshotStep(deps: PauseDependencies): JobStep {
  return async (tx, job) => {
    const { campaignId } = job.input as { campaignId: string };
    const row = await findCampaignForUpdate(tx, job.projectId, campaignId);
    const isUnderWay = row?.status === "SENDING" || row?.status === "PAUSED";
    if (row === undefined || !isUnderWay || row.snapshotAt !== null) return { done: true, result: {} };
    await limitStatements(tx, SNAPSHOT_TIMEOUT_MS);
    return { done: true, result: await snapshot(tx, deps, job.projectId, row) };
  };
}

async function snapshot(tx: Tx, deps: PauseDependencies, projectId: string, row: CampaignRow) {
  const kind = row.kind as CampaignKind;
  const audience = await audienceOf(tx, projectId, audienceOfRow(row)).catch(asJobFailure);
  const matches = await eligible(tx, projectId, kind, audience);
  const count = () => countMatching(tx, projectId, matches);
  const key = { projectId, campaignId: row.id };
  if (await pauseOverCap(tx, deps, key, count)) return {};
  const totalRecipients = await snapshotRecipients(
    tx,
    key,
    contentOf(projectId, row),
    recipientsOf(projectId, matches),
  );
  await failpoint("snapshot.mid");
  const { excluded } = await countExcluded(tx, projectId, kind, audience, totalRecipients);
  await updateSnapshot(tx, projectId, row.id, { totalRecipients, excluded: JSON.stringify(excluded) });
  await failpoint("snapshot.before_commit");
  return { totalRecipients, excluded };
}

/** Returns the message template shared by the campaign's emails, with a place for the footer if its kind has one. */
function contentOf(projectId: string, row: CampaignRow) {
  return makeContent({
    projectId,
    from: { address: row.fromAddress, name: row.fromName },
    replyTo: row.replyTo,
    subject: row.subject,
    ...sentParts({ ...row, type: row.kind as CampaignKind }),
    headers: [],
    attachments: [],
    listKind: row.kind === "TRANSACTIONAL" ? null : (row.kind as "MARKETING" | "HEADLESS"),
  });
}

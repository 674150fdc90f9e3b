// The report of one campaign over time, by status and compared with earlier campaigns.
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { countRecipients } from "../emails/outbox/campaign-emails.ts";
import { getCampaignRow } from "./campaigns.ts";
import {
  COUNTED_STATUSES,
  countByMinute,
  countByQuarter,
  countByStatus,
  listStartedBefore,
  QUARTER_MINUTES,
} from "./results-queries.ts";
import { ratesOf } from "./rules.ts";

const DEFAULT_HOURS = 3;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Counts sent, opened and clicked emails from the start of a campaign. Emails of small campaigns are read one by one, and large ones have
 * counts per quarter of an hour.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function getActivity(database: Database, projectId: string, id: string, hours = DEFAULT_HOURS) {
  const { id: campaignId, startedAt } = await getCampaignRow(database, projectId, id);
  if (startedAt === null) return { stepMinutes: 1, points: [] };
  const key = { projectId, campaignId };
  const [counts] = await countRecipients(database, projectId, [campaignId]);
  const isSmall = (counts?.totalRecipients ?? 0) <= LIMITS.minuteRecipients.value;
  const stepMinutes = isSmall && hours <= LIMITS.minuteHours.value ? 1 : QUARTER_MINUTES;
  const stepMs = stepMinutes * MINUTE_MS;
  const from = Math.floor(startedAt.getTime() / stepMs) * stepMs;
  const end = Math.min(from + hours * HOUR_MS, (Math.floor(now().getTime() / stepMs) + 1) * stepMs);
  const span = { from: new Date(from), to: new Date(Math.max(end, from + stepMs)) };
  const found = await (stepMinutes === 1 ? countByMinute : countByQuarter)(database, key, span);
  const points = Array.from({ length: (span.to.getTime() - from) / stepMs }, (_unused, at) => {
    const { sent = 0, opened = 0, clicked = 0 } = found.get(at) ?? {};
    return { at: new Date(from + at * stepMs).toISOString(), sent, opens: opened, clicks: clicked };
  });
  return { stepMinutes, points };
}

/**
 * Returns the campaigns of the same kind that started before, newest first, with their rates.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function listPrevious(database: Database, projectId: string, id: string) {
  const { kind, startedAt } = await getCampaignRow(database, projectId, id);
  if (startedAt === null) return [];
  const rows = await listStartedBefore(database, projectId, {
    kind: kind as CampaignKind,
    startedAt,
    limit: LIMITS.comparedCampaigns.value,
  });
  const counts = await countRecipients(
    database,
    projectId,
    rows.map((row) => row.id),
  );
  return rows.flatMap((row, at) => {
    const counted = counts[at];
    // Rates of a campaign without emails would lower the averages.
    if (counted === undefined || counted.sentCount === 0) return [];
    const { totalRecipients, sentCount } = counted;
    const started = row.startedAt?.toISOString() ?? null;
    return [{ ...row, startedAt: started, totalRecipients, sentCount, ...ratesOf(counted) }];
  });
}

/**
 * Counts the recipients of a campaign by status. The counts of final statuses are maintained, and everyone else is queued.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function countStatuses(database: Database, projectId: string, id: string) {
  const { id: campaignId } = await getCampaignRow(database, projectId, id);
  const most = LIMITS.countedRecipients.value;
  const [[counts], found] = await Promise.all([
    countRecipients(database, projectId, [campaignId]),
    countByStatus(database, { projectId, campaignId }, most),
  ]);
  if (counts === undefined) throw new Error("Counts of the campaign are missing.");
  const inSubmission = (found.get("CLAIMED") ?? 0) + (found.get("SENDING") ?? 0);
  const exact = new Map<EmailStatus, number>([
    // The statements of a moving campaign may see different states.
    ["QUEUED", Math.max(0, counts.pendingCount - inSubmission)],
    ["FAILED", counts.failedCount],
    ["SKIPPED", counts.skippedCount],
    ["UNCONFIRMED", counts.unconfirmedCount],
  ]);
  return [
    ...[...exact].map(([status, count]) => ({ status, count, isMore: false })),
    ...COUNTED_STATUSES.map((status) => {
      const count = found.get(status) ?? 0;
      return { status, count: Math.min(count, most), isMore: count > most };
    }),
  ];
}

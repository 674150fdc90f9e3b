// Pauses campaigns automatically. Status, queue, reason, log line, metric and the members' notification always change together.
import { holdFor, type HeldReason } from "@postloft/contract/held-reasons.ts";
import { afterCommit } from "../platform/notify.ts";
import type { Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import type { PauseCause } from "../projects/members/notification-facts.ts";
import { notifyMembers } from "../projects/members/notifications.ts";
import { moveCampaigns } from "./sync-queue.ts";
import { pausedCampaignMail } from "./paused-campaign-mail.ts";
import { TRANSITIONS } from "./rules.ts";
import { sendsSince } from "./status-queries.ts";

export interface PauseDependencies {
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}

export interface AutomaticPause extends CampaignKey {
  cause: PauseCause;
  /**
   * When the campaign started sending, as read by the caller. A campaign resumed since then is not paused. If missing, any start matches.
   */
  sendingSince?: Date;
}

/** Pauses a campaign that is sending and notifies its project's members. Returns whether it did. */
export async function pauseAutomatically(
  tx: Tx,
  { baseUrl, log, metrics }: PauseDependencies,
  { projectId, campaignId, cause, sendingSince }: AutomaticPause,
): Promise<boolean> {
  const heldReason = reasonOf(cause);
  const [campaign] = await moveCampaigns(
    tx,
    sendsSince({ projectId, campaignId }, sendingSince ?? null),
    TRANSITIONS.pause,
    { heldReason },
  );
  if (campaign === undefined) return false;
  const reason = heldReason.text;
  const { name } = campaign;
  const mail = pausedCampaignMail({ projectId, id: campaignId, name }, cause, baseUrl());
  await notifyMembers(tx, { projectId, kind: "campaign-paused", facts: { campaignId, name, reason } }, mail);
  afterCommit(tx, () => {
    metrics.campaignsPaused.inc();
    log.warn({ projectId, campaignId, cause: cause.problem, reason }, "paused a campaign automatically");
  });
  return true;
}

function reasonOf(cause: PauseCause): HeldReason {
  switch (cause.problem) {
    case "refused":
      return holdFor("held.refused", { last: cause.last, answer: cause.answer });
    case "in-doubt":
      return cause.inARow === null
        ? holdFor("held.doubtOfLast", { last: cause.last, answer: cause.answer })
        : holdFor("held.doubtInARow", { count: cause.inARow, answer: cause.answer });
    case "over-cap":
      return holdFor("held.overCap", { recipients: cause.recipients, room: cause.room });
    case "audience":
      return holdFor("held.audience", { said: cause.said });
    case "forgotten":
      return holdFor("held.forgotten", { mails: cause.mails });
  }
}

// Rules of campaigns: transitions, rates, and which kind needs a subscription. Pure.
import type { CampaignKind, counters } from "@postloft/contract/campaigns.ts";
import type { z } from "zod";
import type { ProviderCounts } from "../emails/outbox/campaign-emails.ts";
import { destinationOfDomain } from "../transports/destinations.ts";
import type { Transition } from "./status-queries.ts";

/** All transitions (decisions §8). Others are a conflict. */
export const TRANSITIONS = {
  send: { from: ["DRAFT", "SCHEDULED"], to: "SENDING", event: "campaign.started" },
  schedule: { from: ["DRAFT", "SCHEDULED"], to: "SCHEDULED", event: "campaign.scheduled" },
  unschedule: { from: ["SCHEDULED"], to: "DRAFT", event: "campaign.unscheduled" },
  cancel: { from: ["SENDING", "PAUSED"], to: "CANCELLED", event: "campaign.cancelled" },
  pause: { from: ["SENDING"], to: "PAUSED", event: "campaign.paused" },
  resume: { from: ["PAUSED"], to: "SENDING", event: "campaign.resumed" },
  retry: { from: ["SENT", "SENDING"], to: "SENDING", event: "campaign.retried" },
  startDue: { from: ["SCHEDULED"], to: "SENDING", event: "campaign.started" },
  finish: { from: ["SENDING"], to: "SENT", event: "campaign.sent" },
  finishCancelled: { from: ["CANCELLED"], to: "CANCELLED", event: null },
} as const satisfies Record<string, Transition>;

/** A schedule missed by more than this is held and shown instead of sent (decisions §8). */
export const MISSED_MS = 60 * 60_000;

/**
 * Policy rejections (`550 5.7.1`) among the last emails at which a campaign pauses automatically: more than a fifth. They are about us and
 * not the recipients, so further emails would be rejected too and harm our reputation.
 */
export const REJECTION_LIMIT = { refused: 41, last: 200 } as const;

/** More than four fifths count as nearly all. */
const NEARLY_ALL = 0.8;

/** Returns the destination behind nearly all rejections, by their domains; null if there are several. */
export function refusingDestination(domains: readonly string[]): string | null {
  const byDestination = Map.groupBy(domains, destinationOfDomain);
  for (const [destination, own] of byDestination)
    if (own.length > domains.length * NEARLY_ALL) return destination;
  return null;
}

/**
 * Unanswered submissions among the last emails at which a campaign pauses automatically: more than a fifth. Fewer can be one event, because
 * a restarting server cuts all open connections. The sender's brake detects a server that never replies sooner.
 */
export const DOUBT_LIMIT = { uncertain: 21, last: 100 } as const;

/** Returns whether a kind goes to subscribed contacts only (spec §3.1). */
export function needsSubscription(kind: CampaignKind): boolean {
  return kind !== "TRANSACTIONAL";
}

/** Returns a percentage with two digits; 0 if the whole is 0. */
export function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100;
}

/** Returns the six rates relative to sent emails (decisions §8). */
export function ratesOf({ unsubscribedCount, ...counts }: z.output<typeof counters>) {
  return {
    ...mailRatesOf(counts, counts.deliveredCount > 0),
    unsubscribeRate: percentOf(unsubscribedCount, counts.sentCount),
  };
}

/**
 * Returns the rates that are also available by mailbox provider. The delivery rate is null unless deliveries of the campaign are reported.
 */
export function mailRatesOf(counts: Omit<ProviderCounts, "provider">, isDeliveryReported: boolean) {
  const { sentCount } = counts;
  return {
    deliveryRate: isDeliveryReported ? percentOf(counts.deliveredCount, sentCount) : null,
    openRate: percentOf(counts.openedCount, sentCount),
    clickRate: percentOf(counts.clickedCount, sentCount),
    bounceRate: percentOf(counts.bouncedCount, sentCount + counts.refusedCount),
    complaintRate: percentOf(counts.complainedCount, sentCount),
  };
}

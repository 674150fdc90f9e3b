// Pure rules of campaigns: which state follows which, what the counts mean in percent, who gets which kind.
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import type { CampaignCounts, ProviderCounts } from "../emails/outbox/campaign-emails.ts";
import { destinationOfDomain } from "../transports/destinations.ts";
import type { Transition } from "./status-queries.ts";

/** Every change of state (decisions §8); anything else is a conflict. */
export const TRANSITIONS = {
  send: { from: ["DRAFT", "SCHEDULED"], to: "SENDING" },
  schedule: { from: ["DRAFT", "SCHEDULED"], to: "SCHEDULED" },
  unschedule: { from: ["SCHEDULED"], to: "DRAFT" },
  cancel: { from: ["SENDING", "PAUSED"], to: "CANCELLED" },
  pause: { from: ["SENDING"], to: "PAUSED" },
  resume: { from: ["PAUSED"], to: "SENDING" },
  retry: { from: ["SENT", "SENDING"], to: "SENDING" },
  startDue: { from: ["SCHEDULED"], to: "SENDING" },
  finish: { from: ["SENDING"], to: "SENT" },
  finishCancelled: { from: ["CANCELLED"], to: "CANCELLED" },
} as const satisfies Record<string, Transition>;

/** A schedule missed by more than this is held and shown, not sent by itself (decisions §8). */
export const MISSED_MS = 60 * 60_000;

/**
 * From so many refusals by policy (`550 5.7.1`) among the last mails on a campaign pauses by itself: more than a fifth. They
 * are about us, not about the recipients: each further mail would meet the same, and make us less welcome still.
 */
export const REFUSAL_LIMIT = { refused: 41, last: 200 } as const;

/** More than four fifths of them are as good as all. */
const NEARLY_ALL = 0.8;

/** The one destination behind nearly all refusals, by the domains they came from; null: there are several. */
export function refusingDestination(domains: readonly string[]): string | null {
  const byDestination = Map.groupBy(domains, destinationOfDomain);
  for (const [destination, own] of byDestination)
    if (own.length > domains.length * NEARLY_ALL) return destination;
  return null;
}

/**
 * From so many handovers without an answer among the last mails on a campaign pauses by itself: more than a fifth. Fewer can be
 * one event: a server that restarts cuts all connections that were in a handover. A server that answers none at all is noticed
 * sooner, by the brake of the sender.
 */
export const DOUBT_LIMIT = { uncertain: 21, last: 100 } as const;

/** Whether a kind goes to subscribed contacts only (spec §3.1). */
export function needsSubscription(kind: CampaignKind): boolean {
  return kind !== "TRANSACTIONAL";
}

/** Percent with two digits; 0 of nothing. */
export function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100;
}

/** The six rates: delivery, bounces, complaints and unsubscribes of what was sent; opens and clicks too (decisions §8). */
export function ratesOf({ unsubscribedCount, ...counts }: CampaignCounts & { unsubscribedCount: number }) {
  return { ...mailRatesOf(counts), unsubscribeRate: percentOf(unsubscribedCount, counts.sentCount) };
}

/** Those that receiving providers have as well. */
export function mailRatesOf(counts: Omit<ProviderCounts, "provider">) {
  const { sentCount } = counts;
  return {
    deliveryRate: percentOf(counts.deliveredCount, sentCount),
    openRate: percentOf(counts.openedCount, sentCount),
    clickRate: percentOf(counts.clickedCount, sentCount),
    bounceRate: percentOf(counts.bouncedCount, sentCount),
    complaintRate: percentOf(counts.complainedCount, sentCount),
  };
}

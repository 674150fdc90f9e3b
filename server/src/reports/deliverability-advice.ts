// Gives advice on reports of receivers, most urgent first, and none if all is well. Pure.
import { say, type Advice } from "@postloft/contract/advice.ts";

export interface DomainStats {
  reports: number;
  lastReportAt: string | null;
  policy: string | null;
  messages: number;
  aligned: number;
  quarantined: number;
  rejected: number;
  reporters: Array<{ reporter: string; messages: number }>;
  sources: Array<{ ip: string; messages: number; aligned: number; signers: string[] }>;
}

export interface TlsStats {
  reports: number;
  successes: number;
  failures: number;
  causes: Array<{ result: string; count: number }>;
}

/** From this share on, a stricter policy affects no legitimate sender. */
const READY_SHARE = 0.98;
const READY_MESSAGES = 100;
/** Below this share, legitimate senders may be among the failures. */
const LOW_SHARE = 0.9;
const TLS_FAILURES_SHARE = 0.01;
/** Rates of fewer emails are not meaningful. Suspension starts at the same number (decisions §2). */
const MIN_RATED_EMAILS = 100;
/** Percent. */
const MANY_BOUNCES = 5;
const MANY_COMPLAINTS = 0.1;
const MANY_REJECTIONS = 5;
const MANY_BLOCKS = 5;
const MANY_DEFERRALS = 20;

/** Returns whole percent, with one decimal near 0 and 100. */
const percentOf = (share: number) => Number((share * 100).toFixed(share > 0.99 || share < 0.1 ? 1 : 0));

export function adviceOnDomain(input: {
  domain: string;
  dmarc: DomainStats;
  tls: TlsStats;
  reportAddress: string | null;
  /** The published DMARC record. */
  record: string | null;
}): Advice[] {
  const { domain, dmarc, tls, reportAddress, record } = input;
  const { messages, policy } = dmarc;
  const advice: Advice[] = [];
  const share = messages === 0 ? 1 : dmarc.aligned / messages;
  const [worst] = dmarc.sources.filter((source) => source.aligned < source.messages);
  if (worst !== undefined && share < READY_SHARE) {
    const values = { percent: percentOf(1 - share), domain, ip: worst.ip };
    advice.push(
      worst.signers.length === 0
        ? say("dmarc.unsigned", values)
        : say("dmarc.signedByOthers", { ...values, signers: worst.signers.join(", ") }),
    );
  }
  if (policy === "none" && messages >= READY_MESSAGES && share >= READY_SHARE)
    advice.push(say("dmarc.readyForQuarantine", { percent: percentOf(share), messages, domain }));
  if ((policy === "quarantine" || policy === "reject") && share < LOW_SHARE)
    advice.push(say("dmarc.mailIsLost", { policy, percent: percentOf(1 - share) }));
  const sessions = tls.successes + tls.failures;
  if (sessions > 0 && tls.failures / sessions > TLS_FAILURES_SHARE) {
    const causes = tls.causes.map(({ result }) => result).join(", ");
    advice.push(say("tls.failures", { percent: percentOf(tls.failures / sessions), domain, causes }));
  }
  if (dmarc.reports === 0 && reportAddress !== null && record?.includes(reportAddress) !== true)
    advice.push(say("dmarc.noReports", { domain, address: reportAddress }));
  return advice;
}

export interface CampaignCause {
  campaignId: string;
  /** Null if it was deleted. */
  name: string | null;
  bounces: number;
  softBounces: number;
  complaints: number;
}

export function adviceOnProvider(
  input: {
    value: string;
    emails: number;
    refused: number;
    deferred: number;
    blocked: number;
    bounces: number;
    softBounces: number;
    complaints: number;
  },
  campaigns: readonly CampaignCause[],
): Advice[] {
  const { value: provider, bounces, softBounces, complaints, deferred, blocked } = input;
  // Rejected emails were never sent, but count here because a provider that rejects everything has no others.
  const emails = input.emails + input.refused + blocked;
  if (emails < MIN_RATED_EMAILS) return [];
  const rate = (count: number) => Number(((count / emails) * 100).toFixed(2));
  /** Returns the campaign that caused more than half of them. */
  const mostOf = (what: "bounces" | "complaints", all: number) =>
    campaigns.find((one) => one.name !== null && one[what] > all / 2)?.name ?? null;
  const advice: Advice[] = [];
  if (rate(blocked) >= MANY_BLOCKS) advice.push(say("provider.blocks", { percent: rate(blocked), provider }));
  if (rate(complaints) >= MANY_COMPLAINTS) {
    const [percent, campaign] = [rate(complaints), mostOf("complaints", complaints)];
    advice.push(
      campaign === null
        ? say("provider.complaints", { percent, provider })
        : say("provider.complaintsOfCampaign", { percent, provider, campaign }),
    );
  }
  if (rate(bounces) >= MANY_BOUNCES) {
    const [percent, campaign] = [rate(bounces), mostOf("bounces", bounces)];
    advice.push(
      campaign === null
        ? say("provider.bounces", { percent, provider })
        : say("provider.bouncesOfCampaign", { percent, provider, campaign }),
    );
  }
  if (rate(softBounces) >= MANY_REJECTIONS)
    advice.push(say("provider.refusals", { percent: rate(softBounces), provider }));
  if (rate(deferred) >= MANY_DEFERRALS)
    advice.push(say("provider.deferrals", { percent: rate(deferred), provider }));
  return advice;
}

// Facts of each notification, and the interface of its texts in every language. Pure.
import type { CapCategory } from "@postloft/contract/limits/billing.ts";
import type { BadRate } from "@postloft/contract/security.ts";
import type { PlatformEmailBlock } from "../../emails/platform-email/platform-email-layout.ts";

/** An email in one language, without recipient and link. */
export interface NotificationWords {
  subject: string;
  blocks: PlatformEmailBlock[];
  /** The label of the button. */
  label?: string;
  footer?: string;
}

export interface LostDomain {
  domain: string;
  /** The name of the DNS record. */
  record: string;
  failedChecks: number;
}

/** Why a campaign paused automatically. */
export type PauseCause =
  | { problem: "refused"; last: number; answer: string }
  /** `inARow` is null if more than a fifth of the last emails are in doubt. */
  | { problem: "in-doubt"; inARow: number | null; last: number; answer: string }
  /** More recipients than a cap leaves room for. */
  | { problem: "over-cap"; recipients: number; room: number }
  /** The recipients could not be determined. */
  | { problem: "audience"; said: string }
  /** A standby database took over without the campaign's start, after this many emails had left. */
  | { problem: "forgotten"; mails: number };

export interface PausedCampaign {
  id: string;
  name: string;
  cause: PauseCause;
}

export interface ThrottledDomainFacts {
  /** The campaign; null for bulk mail outside campaigns. */
  campaign: { id: string; name: string } | null;
  project: string;
  destination: string;
  answer: string;
}

export interface UsedCap {
  category: CapCategory;
  usage: number;
  limit: number;
  /** In percent. */
  percentage: number;
}

/** The kinds of jobs that a person can start. Other kinds are reported without a name. */
export const NOTIFIED_JOBS = [
  "contacts.import",
  "contacts.undo-import",
  "contacts.bulk",
  "contacts.delete-field",
  "suppressions.import",
  "campaigns.snapshot",
  "workflows.start",
  "workflows.cancel",
  "events.delete",
  "project-reset",
  "project-deletion",
] as const;
export type NamedJob = (typeof NOTIFIED_JOBS)[number] | "other";

/** Failures of a workflow since the previous notification. */
export interface FailedWorkflow {
  name: string;
  /** How many executions failed. */
  count: number;
  /** The step of the last failure. */
  step: string;
  /** The last error. */
  error: string;
  /** Whether the workflow was paused, because the endpoint failed for everyone. */
  isPaused: boolean;
}

/** An endpoint that was disabled because it accepted nothing for days. */
export interface DisabledEndpoint {
  /** With masked credentials. */
  url: string;
  days: number;
  /** The error of the last call. */
  error: string;
}

export interface WeekCounts {
  startDate: string;
  endDate: string;
  emails: number;
  opens: number;
  clicks: number;
  bounces: number;
  complaints: number;
}

/** A language without one of these texts does not compile. */
export interface NotificationTexts {
  lostDomain: (facts: LostDomain) => NotificationWords;
  lostLinkDomain: (facts: { domain: string }) => NotificationWords;
  pausedCampaign: (facts: PausedCampaign) => NotificationWords;
  pausedDestination: (facts: ThrottledDomainFacts) => NotificationWords;
  suspended: (facts: { project: string; rates: readonly BadRate[] }) => NotificationWords;
  badRates: (facts: { project: string; rates: readonly BadRate[] }) => NotificationWords;
  capsNear: (facts: { project: string; caps: readonly UsedCap[] }) => NotificationWords;
  capsReached: (facts: { project: string; caps: readonly UsedCap[] }) => NotificationWords;
  failedJob: (facts: { job: NamedJob; id: string; reason: string }) => NotificationWords;
  failedWorkflow: (facts: FailedWorkflow) => NotificationWords;
  disabledEndpoint: (facts: DisabledEndpoint) => NotificationWords;
  week: (facts: { project: string; current: WeekCounts; previous: WeekCounts }) => NotificationWords;
  /** A message to the instance admin. */
  passedOn: (facts: { recipient: string; from: string; subject: string; text: string }) => NotificationWords;
  test: () => NotificationWords;
}

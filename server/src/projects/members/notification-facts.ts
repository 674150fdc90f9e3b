// What is known of each thing that people are told, and the shape of what is said of it in every language. Pure.
import type { CapCategory } from "@postloft/contract/limits/billing.ts";
import type { BadRate } from "@postloft/contract/security.ts";
import type { SystemMailBlock } from "../../emails/system-mail/system-mail-layout.ts";

/** One mail in one language, without its address: whoever tells it knows where its button leads. */
export interface NotificationWords {
  subject: string;
  blocks: SystemMailBlock[];
  /** What the button says. */
  label?: string;
  footer?: string;
}

export interface LostDomain {
  domain: string;
  /** The name of the DNS record. */
  record: string;
  failedChecks: number;
}

/** Why a campaign paused by itself. */
export type PauseCause =
  | { problem: "refused"; last: number; answer: string }
  /** `inARow` null: more than a fifth of the last ones. */
  | { problem: "in-doubt"; inARow: number | null; last: number; answer: string }
  /** More recipients than a cap leaves room for when they are fixed. */
  | { problem: "over-cap"; recipients: number; room: number }
  /** The recipients could not be determined. */
  | { problem: "audience"; said: string }
  /** A standby of the database took over that doesn't know of its start; so many mails had left. */
  | { problem: "forgotten"; mails: number };

export interface PausedCampaign {
  id: string;
  name: string;
  cause: PauseCause;
}

export interface PausedDestinationFacts {
  /** The campaign; null: list mail of no campaign. */
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

/** The kinds of jobs that somebody can start; of any other one is told without a name. */
export const TOLD_JOBS = [
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
export type ToldJob = (typeof TOLD_JOBS)[number] | "other";

export interface WeekCounts {
  startDate: string;
  endDate: string;
  emails: number;
  opens: number;
  clicks: number;
  bounces: number;
  complaints: number;
}

/** A language without one of them is a mistake of types. */
export interface NotificationTexts {
  lostDomain: (facts: LostDomain) => NotificationWords;
  pausedCampaign: (facts: PausedCampaign) => NotificationWords;
  pausedDestination: (facts: PausedDestinationFacts) => NotificationWords;
  suspended: (facts: { project: string; rates: readonly BadRate[] }) => NotificationWords;
  badRates: (facts: { project: string; rates: readonly BadRate[] }) => NotificationWords;
  capsNear: (facts: { project: string; caps: readonly UsedCap[] }) => NotificationWords;
  capsReached: (facts: { project: string; caps: readonly UsedCap[] }) => NotificationWords;
  failedJob: (facts: { job: ToldJob; id: string; reason: string }) => NotificationWords;
  week: (facts: { project: string; current: WeekCounts; previous: WeekCounts }) => NotificationWords;
  /** What somebody wrote to whoever runs the installation. */
  passedOn: (facts: { recipient: string; from: string; subject: string; text: string }) => NotificationWords;
  test: () => NotificationWords;
}

// Rules for an email's Message-ID, Date, retries and status changes. Pure. Times are in milliseconds.
import { EMAIL_KINDS, type EmailKind, type EmailStatus } from "@postloft/contract/emails.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { idTimeMs } from "../../platform/ids.ts";

/** Returns the Message-ID without brackets. It derives from the email's id, so every attempt has the same one (decision 7). */
export function messageIdOf(emailId: string, fromAddress: string): string {
  return `${emailId}@${domainOf(fromAddress)}`;
}

const DATE_MAY_LIE_BACK_MS = 60 * 60_000;

/**
 * Returns the Date header, normally when the email was accepted, so that it is the same for every attempt. An email of a slow or paused
 * campaign is dated when it is created. Spam filters suspect an old date, and the email would appear far down in the inbox.
 * @param madeAt when an email of a campaign was created
 */
export function messageDateOf(emailId: string, madeAt: Date | null = null): Date {
  const acceptedMs = idTimeMs(emailId);
  const isLate = madeAt !== null && madeAt.getTime() - acceptedMs > DATE_MAY_LIE_BACK_MS;
  return isLate ? madeAt : new Date(acceptedMs);
}

/** Maps a priority to its kind, with 1 transactional, 2 workflow and 3 campaign. */
export function kindOf(priority: number): EmailKind {
  return EMAIL_KINDS[priority - 1] ?? "CAMPAIGN";
}

/** Why bulk mail is skipped. */
export const NOT_SUBSCRIBED = recordedReason("notSubscribed");

/** Why an email to a deleted contact is skipped. */
export const CONTACT_DELETED = recordedReason("contactDeleted");

/** Why an email to a suppressed address is skipped, by the reason of the suppression. */
export const SUPPRESSED: Readonly<Record<SuppressionReason, string>> = {
  COMPLAINT: recordedReason("suppressedComplaint"),
  HARD_BOUNCE: recordedReason("suppressedBounce"),
  MANUAL: recordedReason("suppressedManual"),
  IMPORT: recordedReason("suppressedImport"),
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first temporary errors. All later waits are one hour (decisions §12). */
const RETRY_WAITS_MS = [30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS];
/** How long an email is retried before it fails, as the sum of all its waits. */
const GIVE_UP_AFTER_MS: Readonly<Record<EmailKind, number>> = {
  TRANSACTIONAL: 12 * HOUR_MS,
  WORKFLOW: 72 * HOUR_MS,
  CAMPAIGN: 72 * HOUR_MS,
};
/** Fraction of a wait by which retries are spread, so that an outage does not end in a stampede. */
const JITTER = 0.2;

/**
 * Returns how long to wait after temporary error number `attempts`, or null to give up. `random` is between 0 and 1. Counts only the waits,
 * not the clock, so a pause or a stopped sender costs no retries. An email that is requeued after giving up starts a new series.
 */
export function retryWaitMs(kind: EmailKind, attempts: number, random: number): number | null {
  const last = attemptsUntilGivenUp(kind);
  const rejection = ((attempts - 1) % last) + 1;
  return rejection === last ? null : Math.round(waitAfterMs(rejection) * (1 + JITTER * random));
}

/** Returns the number of the temporary error after which the email is given up, assuming average jitter. */
export function attemptsUntilGivenUp(kind: EmailKind): number {
  let waitedMs = 0;
  for (let rejection = 1; ; rejection++) {
    waitedMs += waitAfterMs(rejection) * (1 + JITTER / 2);
    if (waitedMs > GIVE_UP_AFTER_MS[kind]) return rejection;
  }
}

function waitAfterMs(rejection: number): number {
  return RETRY_WAITS_MS[rejection - 1] ?? HOUR_MS;
}

/** How often an email may end in doubt before it waits for a person. */
const MAX_UNCERTAIN_ATTEMPTS = 2;

/**
 * Returns how long an in-doubt email waits for its one retry, or null if it waits for a person. Only transactional email is retried,
 * because there a possible duplicate is better than a lost email. `earlierDoubts` counts earlier attempts that ended in doubt. The wait
 * equals that of a temporary error, so that the server can recover and a delivery report can arrive first.
 */
export function waitInDoubtMs(
  kind: EmailKind,
  { attempts, earlierDoubts }: { attempts: number; earlierDoubts: number },
  random: number,
): number | null {
  if (kind !== "TRANSACTIONAL" || earlierDoubts + 1 >= MAX_UNCERTAIN_ATTEMPTS) return null;
  return retryWaitMs(kind, attempts, random);
}

/** Statuses that a report can set. Each has its own timestamp column in the row. */
export const RETURNED_STATUSES = ["DELIVERED", "OPENED", "CLICKED", "BOUNCED", "COMPLAINED"] as const;
export type ReturnedStatus = (typeof RETURNED_STATUSES)[number];

/** Statuses in which the message may have been delivered, so a report can arrive. In all others it was not sent. */
export const LEFT_STATUSES: readonly EmailStatus[] = ["SENDING", "SENT", "UNCONFIRMED", ...RETURNED_STATUSES];

/**
 * The statuses from which each report may move an email. Only forward, so that repeats and reordering change nothing (decision 9). BOUNCED
 * and COMPLAINED are final. A click during submission does not move the email, because a filter may follow links before it accepts or
 * rejects the message.
 */
const FORWARD: Readonly<Record<ReturnedStatus, readonly EmailStatus[]>> = {
  DELIVERED: ["SENDING", "SENT", "UNCONFIRMED"],
  OPENED: ["SENT", "UNCONFIRMED", "DELIVERED"],
  CLICKED: ["SENT", "UNCONFIRMED", "DELIVERED", "OPENED"],
  BOUNCED: ["SENDING", "SENT", "UNCONFIRMED", "DELIVERED", "OPENED", "CLICKED"],
  COMPLAINED: ["SENDING", "SENT", "UNCONFIRMED", "DELIVERED", "OPENED", "CLICKED", "BOUNCED"],
};

export function isForward(from: EmailStatus, to: ReturnedStatus): boolean {
  return FORWARD[to].includes(from);
}

// Rules of a mail's way out: its name, how long it is retried, what becomes of one whose sender died. Pure; times in milliseconds.
import { EMAIL_KINDS, type EmailKind, type EmailStatus } from "@postloft/contract/emails.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";
import { idTimeMs } from "../../platform/ids.ts";

/** The Message-ID of a mail, without brackets: made from its id, so that every attempt carries the same (decision 7). */
export function messageIdOf(emailId: string, fromAddress: string): string {
  return `${emailId}@${domainOf(fromAddress)}`;
}

const DATE_MAY_LIE_BACK_MS = 60 * 60_000;

/**
 * The Date header: when the mail was accepted, the same at every attempt. Of a campaign that leaves over hours or was paused it is when the mail is
 * made: filters take a date that lies hours back for a forged one, and people find the mail below what came since.
 *
 * @param madeAt of a mail of a campaign
 */
export function messageDateOf(emailId: string, madeAt: Date | null = null): Date {
  const acceptedMs = idTimeMs(emailId);
  const isLate = madeAt !== null && madeAt.getTime() - acceptedMs > DATE_MAY_LIE_BACK_MS;
  return isLate ? madeAt : new Date(acceptedMs);
}

/** The kind a priority stands for: 1 transactional, 2 workflow, 3 campaign. */
export function kindOf(priority: number): EmailKind {
  return EMAIL_KINDS[priority - 1] ?? "CAMPAIGN";
}

/** Why mail to a list is skipped. */
export const NOT_SUBSCRIBED = "The contact is not subscribed.";

/** Why mail to a person who was deleted is skipped. */
export const CONTACT_DELETED = "The contact was deleted.";

/** Why mail to an address on the suppression list is skipped, by why it is listed. */
export const SUPPRESSED: Readonly<Record<SuppressionReason, string>> = {
  COMPLAINT: "The address is on the suppression list: its owner complained about a mail.",
  HARD_BOUNCE: "The address is on the suppression list: a mail to it bounced.",
  MANUAL: "The address is on the suppression list: somebody put it there.",
  IMPORT: "The address is on the suppression list: it was imported.",
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first temporary refusals; then hourly (decisions §12). */
const RETRY_WAITS_MS = [30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS];
/** How long a mail is tried before it fails: the waits between its attempts, all together. */
const GIVE_UP_AFTER_MS: Readonly<Record<EmailKind, number>> = {
  TRANSACTIONAL: 12 * HOUR_MS,
  WORKFLOW: 72 * HOUR_MS,
  CAMPAIGN: 72 * HOUR_MS,
};
/** Retries are spread by up to this part of the wait, so that an outage does not end in a stampede. */
const JITTER = 0.2;

/**
 * How long to wait after temporary refusal number `attempts`, or null to give up; `random` in 0…1. Only what the mail itself
 * waited counts: one that was paused for a week, or whose sender was off, is tried like any other, and no clock is asked. Who is
 * queued again after it was given up has a new series.
 */
export function retryWaitMs(kind: EmailKind, attempts: number, random: number): number | null {
  const last = refusalsUntilGivenUp(kind);
  const refusal = ((attempts - 1) % last) + 1;
  return refusal === last ? null : Math.round(waitAfterMs(refusal) * (1 + JITTER * random));
}

/** The refusal after which the next wait, with chance as it falls on average, would make a series too long. */
export function refusalsUntilGivenUp(kind: EmailKind): number {
  let waitedMs = 0;
  for (let refusal = 1; ; refusal++) {
    waitedMs += waitAfterMs(refusal) * (1 + JITTER / 2);
    if (waitedMs > GIVE_UP_AFTER_MS[kind]) return refusal;
  }
}

function waitAfterMs(refusal: number): number {
  return RETRY_WAITS_MS[refusal - 1] ?? HOUR_MS;
}

/** How often a mail may end in doubt before it waits for a person. */
export const MAX_UNCERTAIN_ATTEMPTS = 2;

/**
 * How long a mail that may have left waits for its one further try; null: it waits for a person. Only transactional mail is
 * tried again: it may arrive twice, where otherwise it may not arrive. `earlierDoubts`: attempts before this one that ended
 * so. The wait is that after a refusal: a server that swallows answers gets better, and a delivery can be reported meanwhile.
 */
export function waitInDoubtMs(
  kind: EmailKind,
  { attempts, earlierDoubts }: { attempts: number; earlierDoubts: number },
  random: number,
): number | null {
  if (kind !== "TRANSACTIONAL" || earlierDoubts + 1 >= MAX_UNCERTAIN_ATTEMPTS) return null;
  return retryWaitMs(kind, attempts, random);
}

/** What can come back about a mail, each with an instant of its own in its row. */
export const RETURNED_STATUSES = ["DELIVERED", "OPENED", "CLICKED", "BOUNCED", "COMPLAINED"] as const;
export type ReturnedStatus = (typeof RETURNED_STATUSES)[number];

/** Mails of which something can come back; whatever else a row says, its message is not out there. */
export const LEFT_STATUSES: readonly EmailStatus[] = ["SENDING", "SENT", "UNCONFIRMED", ...RETURNED_STATUSES];

/**
 * What may bring a mail from where to where: forward only, so that repeats and reordering change nothing (decision 9).
 * BOUNCED and COMPLAINED stay. A link opened in the middle of the handover does not move the mail: a filter that looks at
 * the message before it is taken does that too, and then the mail must be tried again.
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

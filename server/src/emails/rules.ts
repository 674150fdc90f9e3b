// Rules of a mail's way out: its name, how long it is retried, what becomes of one whose sender died. Pure; times in milliseconds.
// Before it: emails.ts, sender.ts. After it: nothing.
import type { EmailKind, EmailStatus } from "@postloft/contract/emails.ts";
import { domainOf } from "@postloft/contract/address.ts";
import { idTimeMs } from "../platform/ids.ts";

/** The Message-ID of a mail, without brackets: made from its id, so that every attempt carries the same (decision 7). */
export function messageIdOf(emailId: string, fromAddress: string): string {
  return `${emailId}@${domainOf(fromAddress)}`;
}

/** The Date header: when the mail was accepted, the same at every attempt. */
export function messageDateOf(emailId: string): Date {
  return new Date(idTimeMs(emailId));
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first temporary refusals; then hourly (decisions §12). */
const RETRY_WAITS_MS = [30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS];
/** How long a mail is tried before it fails. */
const GIVE_UP_AFTER_MS: Readonly<Record<EmailKind, number>> = {
  TRANSACTIONAL: 12 * HOUR_MS,
  WORKFLOW: 72 * HOUR_MS,
  CAMPAIGN: 72 * HOUR_MS,
};
/** Retries are spread by up to this part of the wait, so that an outage does not end in a stampede. */
const JITTER = 0.2;

/**
 * How long to wait after temporary refusal number `attempts`, or null to give up.
 * `ageMs` since the mail was accepted; `random` in 0…1.
 */
export function retryWaitMs(kind: EmailKind, attempts: number, ageMs: number, random: number): number | null {
  const wait = RETRY_WAITS_MS[Math.min(attempts, RETRY_WAITS_MS.length) - 1] ?? HOUR_MS;
  const jittered = Math.round(wait * (1 + JITTER * random));
  return ageMs + jittered > GIVE_UP_AFTER_MS[kind] ? null : jittered;
}

/** A mail whose handover was imminent when its sender died may have left: only transactional mail is tried again (ARCHITECTURE §3). */
export function isRetriedWhenUncertain(kind: EmailKind, attempts: number): boolean {
  return kind === "TRANSACTIONAL" && attempts < MAX_UNCERTAIN_ATTEMPTS;
}

const MAX_UNCERTAIN_ATTEMPTS = 2;

/** What a notice may bring a mail to, from where: forward only, so that repeats and reordering change nothing (decision 9). */
const FORWARD: Readonly<Partial<Record<EmailStatus, readonly EmailStatus[]>>> = {
  DELIVERED: ["SENDING", "SENT", "UNCONFIRMED"],
  BOUNCED: ["SENDING", "SENT", "UNCONFIRMED", "DELIVERED"],
  COMPLAINED: ["SENDING", "SENT", "UNCONFIRMED", "DELIVERED", "BOUNCED"],
};

export function isForward(from: EmailStatus, to: EmailStatus): boolean {
  return FORWARD[to]?.includes(from) ?? false;
}

// Builds the timeline of an email, oldest first, from its attempts with their errors and from its events. Pure.
import type * as contract from "@postloft/contract/emails.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { z } from "zod";
import type { Database } from "../../platform/database/database.ts";
import { notifyRejection } from "../../transports/replies/told-refusals.ts";

export interface AttemptRow {
  outcome: string;
  answer: string;
  transport: string | null;
  createdAt: Date;
}

/** An event about an email, reduced to what the timeline shows. */
export interface EventOfEmail {
  name: string;
  createdAt: string;
  data: unknown;
}

/** Lists the events of an email, oldest first. Passed in because events/ is a higher layer. */
export type ListEventsOfEmail = (
  database: Database,
  projectId: string,
  emailId: string,
) => Promise<EventOfEmail[]>;

export interface TimelineMail {
  toAddress: string;
  createdAt: Date;
  sentAt: Date | null;
  transport: string | null;
  answer: string | null;
  providerMessageId: string | null;
}

/** A person's decision about an email in doubt. */
export interface ResolutionRow {
  createdAt: Date;
  resolvedAs: string;
  resolvedBy: string;
}

export type TimelineItem = z.output<typeof contract.timelineItem>;

export function timelineOf(
  mail: TimelineMail,
  attempts: readonly AttemptRow[],
  events: readonly EventOfEmail[],
  resolutions: readonly ResolutionRow[],
): TimelineItem[] {
  const timeline: TimelineItem[] = [
    { type: "queued", at: mail.createdAt.toISOString(), detail: null },
    ...[...attempts, ...lastAttempt(mail)].map((attempt) => ({
      type: "attempt",
      at: attempt.createdAt.toISOString(),
      detail: describeAttempt(attempt),
      ...(attempt.outcome === "sent" ? {} : notifyRejection(attempt.answer, domainOf(mail.toAddress))),
    })),
    ...resolutions.map((resolution) => ({
      type: "resolved",
      at: resolution.createdAt.toISOString(),
      detail: `as ${resolution.resolvedAs}, by ${resolution.resolvedBy}`,
    })),
    ...events.map(({ name, createdAt, data }) => ({
      type: name,
      at: createdAt,
      detail: null,
      ...bounceDetailsOf(data),
    })),
  ];
  return timeline.toSorted((one, other) => one.at.localeCompare(other.at));
}

/** Returns the attempt that sent the email, which is stored in the email row. Empty for emails sent before replies were stored. */
function lastAttempt({ transport, answer, providerMessageId: id, sentAt }: TimelineMail): AttemptRow[] {
  if (answer === null || sentAt === null) return [];
  const named = id === null || answer.includes(id) ? answer : `${answer} ${id}`;
  return [{ outcome: "sent", answer: named, transport, createdAt: sentAt }];
}

/** Formats an attempt, such as `deferred: 451 4.7.1 try later (smtp)`. */
function describeAttempt({ outcome, answer, transport }: AttemptRow): string {
  return `${outcome}: ${answer}${transport === null ? "" : ` (${transport})`}`;
}

/** Returns the details of a bounce event. */
function bounceDetailsOf(data: unknown): Pick<TimelineItem, "cause" | "refusedBy" | "advice"> {
  if (typeof data !== "object" || data === null) return {};
  const reported = (["cause", "refusedBy", "advice"] as const).flatMap((name) => {
    const value = (data as Record<string, unknown>)[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(reported);
}

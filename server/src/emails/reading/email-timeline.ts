// What happened to a mail, oldest first: queued, each attempt with who refused it and why, each event. Pure.
import { domainOf } from "@postloft/contract/address.ts";
import type { Database } from "../../platform/database.ts";
import { tellRefusal } from "../../transports/answers/told-refusals.ts";

export interface AttemptRow {
  outcome: string;
  answer: string;
  transport: string | null;
  createdAt: Date;
}

/** An event about a mail, as far as its timeline shows it. */
export interface EventOfEmail {
  name: string;
  createdAt: string;
  data: unknown;
}

/** Reads what happened with one mail, oldest first: events/ comes later in the reading order and hands it in. */
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

/** What somebody said of a mail that was in doubt. */
export interface ResolutionRow {
  createdAt: Date;
  resolvedAs: string;
  resolvedBy: string;
}

export interface TimelineItem {
  type: string;
  at: string;
  detail: string | null;
  cause?: string;
  refusedBy?: string;
  advice?: string;
}

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
      ...(attempt.outcome === "sent" ? {} : tellRefusal(attempt.answer, domainOf(mail.toAddress))),
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
      ...toldIn(data),
    })),
  ];
  return timeline.toSorted((one, other) => one.at.localeCompare(other.at));
}

/** The attempt that sent the mail: it stands at the mail. None for mails sent before answers were kept. */
function lastAttempt({ transport, answer, providerMessageId: id, sentAt }: TimelineMail): AttemptRow[] {
  if (answer === null || sentAt === null) return [];
  const named = id === null || answer.includes(id) ? answer : `${answer} ${id}`;
  return [{ outcome: "sent", answer: named, transport, createdAt: sentAt }];
}

/** `deferred: 451 4.7.1 try later (smtp)` */
function describeAttempt({ outcome, answer, transport }: AttemptRow): string {
  return `${outcome}: ${answer}${transport === null ? "" : ` (${transport})`}`;
}

/** What the event of a bounce tells. */
function toldIn(data: unknown): Pick<TimelineItem, "cause" | "refusedBy" | "advice"> {
  if (typeof data !== "object" || data === null) return {};
  const told = (["cause", "refusedBy", "advice"] as const).flatMap((name) => {
    const value = (data as Record<string, unknown>)[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(told);
}

// Maps each kind of report to its event, the email's new status, and whether the contact is unsubscribed. Pure.
import { EMAIL_BOUNCE, EMAIL_COMPLAINT, EMAIL_DELIVERY } from "@postloft/contract/event-names.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { ConsentSource } from "../contacts/consent.ts";
import { CAUSES, type Cause, type Category } from "../transports/replies/reply-causes.ts";
import type { Feedback } from "../transports/transport.ts";
import { LEFT_STATUSES, type ReturnedStatus } from "../emails/rows/rules.ts";

/**
 * Kinds of reports. `sent`: the provider accepted the email. `delayed`: still trying. `hard-bounce`: the address does not exist.
 * `soft-bounce`: the mailbox rejected it. `refused`: rejected because of the message or sender, which says nothing about the address.
 * `not-spam`: a person moved it out of junk. `unsubscribed`: a person used the provider's own unsubscribe button.
 */
export type ReportKind =
  | "sent"
  | "delivered"
  | "delayed"
  | "hard-bounce"
  | "soft-bounce"
  | "refused"
  | "complaint"
  | "not-spam"
  | "opened"
  | "clicked"
  | "unsubscribed";

export interface Interpretation {
  /** null: no event is recorded. */
  event: string | null;
  data: Record<string, unknown>;
  /** The email's new status; null keeps the current one. */
  status: ReturnedStatus | null;
  /**
   * How a repeat is detected: by the time that the email's row has for `status`, for a `soft-bounce` or for being confirmed as sent.
   * `never`: the source reports it only once.
   */
  once: "status" | "soft-bounce" | "confirmed" | "never";
  /** The activity that is classified and recorded like our own tracking. */
  activity: "open" | "click" | null;
  /** The source of the unsubscribe; null keeps the subscription. */
  unsubscribe: ConsentSource | null;
}

function row(event: string | null, more: Partial<Interpretation> = {}): Interpretation {
  return { event, data: {}, status: null, once: "status", activity: null, unsubscribe: null, ...more };
}

/** Kinds that don't end a submission in progress, though they would later prove that the email was accepted. */
export const UNSURE_KINDS: ReadonlySet<ReportKind> = new Set([
  "sent",
  "delayed",
  "soft-bounce",
  "refused",
  "not-spam",
]);

/** One row per kind (spec §3.1: a hard bounce and a complaint unsubscribe, a soft bounce does not). */
export const INTERPRETATIONS: Readonly<Record<ReportKind, Interpretation>> = {
  // The email's row itself is the event.
  sent: row(null, { once: "confirmed" }),
  delivered: row(EMAIL_DELIVERY, { status: "DELIVERED" }),
  delayed: row(null),
  "hard-bounce": row(EMAIL_BOUNCE, {
    data: { bounceType: "hard" },
    status: "BOUNCED",
    unsubscribe: "bounce",
  }),
  "soft-bounce": row(EMAIL_BOUNCE, { data: { bounceType: "soft" }, once: "soft-bounce" }),
  // Not the contact's fault, and not counted in the bounce rate.
  refused: row(EMAIL_BOUNCE, { data: { bounceType: "soft" }, once: "soft-bounce" }),
  complaint: row(EMAIL_COMPLAINT, { status: "COMPLAINED", unsubscribe: "complaint" }),
  "not-spam": row(null),
  opened: row(null, { activity: "open" }),
  clicked: row(null, { activity: "click" }),
  unsubscribed: row(null, { unsubscribe: "one-click" }),
};

/** The kind of report for a final failure, by its category. Failures caused by us or the message are no bounces. */
const KINDS: Readonly<Record<Category, ReportKind>> = {
  "hard-bounce": "hard-bounce",
  "soft-bounce": "soft-bounce",
  // The server gave up in the end.
  temporary: "soft-bounce",
  unavailable: "soft-bounce",
  throttled: "refused",
  policy: "refused",
  message: "refused",
};

export function kindOf(cause: Cause): ReportKind {
  return KINDS[CAUSES[cause].meaning];
}

/** Interpretations of a transport's immediate feedback, in order. It is applied together with the attempt, so only once. */
export const FEEDBACK: Readonly<Record<Feedback, readonly Interpretation[]>> = {
  delivered: [INTERPRETATIONS.delivered],
  bounced: [INTERPRETATIONS["hard-bounce"]],
  // These emails never left. They stay FAILED and their events say why.
  "unknown-address": [
    {
      ...INTERPRETATIONS["hard-bounce"],
      data: { bounceType: "hard", atOnce: true },
      status: null,
      once: "never",
    },
  ],
  "soft-bounced": [
    { ...INTERPRETATIONS["soft-bounce"], data: { bounceType: "soft", atOnce: true }, once: "never" },
  ],
  complained: [INTERPRETATIONS.delivered, INTERPRETATIONS.complaint],
};

/** Records nothing for an email that never left, but still unsubscribes the contact. */
export function afterTheEnd({ unsubscribe }: Interpretation): Interpretation {
  return row(null, { unsubscribe });
}

/** Returns whether emails with this status have left, so that reports about them are possible. */
export function hasLeft(status: EmailStatus): boolean {
  return LEFT_STATUSES.includes(status);
}

/** Returns whether emails with this status will never leave. */
export function neverLeaves(status: EmailStatus): boolean {
  return status === "FAILED" || status === "SKIPPED";
}

// What a report about a mail means: the event it is, how the mail's state changes, whether the contact is unsubscribed. Pure.
import { EMAIL_BOUNCE, EMAIL_COMPLAINT, EMAIL_DELIVERY } from "@postloft/contract/event-names.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { ConsentSource } from "../contacts/consent.ts";
import { CAUSES, type Cause, type Meaning } from "../transports/answers/answer-causes.ts";
import type { Feedback } from "../transports/transport.ts";
import { LEFT_STATUSES, type ReturnedStatus } from "../emails/rows/rules.ts";

/**
 * What can be reported. `sent`: whoever took the mail says so. `delayed`: still trying. `hard-bounce`: the address is gone.
 * `soft-bounce`: the mailbox did not take it. `refused`: it did not arrive for what it is, and that says nothing about the
 * address. `not-spam`: a person took it out of the junk. `unsubscribed`: a person left by the provider's own button.
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
  /** null: nothing is recorded. */
  event: string | null;
  data: Record<string, unknown>;
  /** The state of the mail afterwards; null leaves it. */
  status: ReturnedStatus | null;
  /**
   * How a repeat is known: by the instant that `status`, a `soft-bounce` or the confirmation of being sent has in the mail's
   * row. `never`: whoever tells it tells it once.
   */
  once: "status" | "soft-bounce" | "confirmed" | "never";
  /** What somebody did with the mail, to be judged and booked like what we track ourselves. */
  activity: "open" | "click" | null;
  /** How the contact is unsubscribed; null leaves the subscription. */
  unsubscribe: ConsentSource | null;
}

function row(event: string | null, more: Partial<Interpretation> = {}): Interpretation {
  return { event, data: {}, status: null, once: "status", activity: null, unsubscribe: null, ...more };
}

/** What in the middle of a handover does not end it, and would say afterwards that the mail was taken. */
export const UNSURE_KINDS: ReadonlySet<ReportKind> = new Set([
  "sent",
  "delayed",
  "soft-bounce",
  "refused",
  "not-spam",
]);

/** One row per kind (spec §3.1: a hard bounce and a complaint unsubscribe, a soft bounce does not). */
export const INTERPRETATIONS: Readonly<Record<ReportKind, Interpretation>> = {
  // The row of a mail that is confirmed is the event.
  sent: row(null, { once: "confirmed" }),
  delivered: row(EMAIL_DELIVERY, { status: "DELIVERED" }),
  delayed: row(null),
  "hard-bounce": row(EMAIL_BOUNCE, {
    data: { bounceType: "hard" },
    status: "BOUNCED",
    unsubscribe: "bounce",
  }),
  "soft-bounce": row(EMAIL_BOUNCE, { data: { bounceType: "soft" }, once: "soft-bounce" }),
  // Not the contact's fault, and no bounce to be rated.
  refused: row(EMAIL_BOUNCE, { data: { bounceType: "soft" }, once: "soft-bounce" }),
  complaint: row(EMAIL_COMPLAINT, { status: "COMPLAINED", unsubscribe: "complaint" }),
  "not-spam": row(null),
  opened: row(null, { activity: "open" }),
  clicked: row(null, { activity: "click" }),
  unsubscribed: row(null, { unsubscribe: "one-click" }),
};

/** What ended a mail at its last server, by its cause; what is only about us or the message bounces nobody. */
const KINDS: Readonly<Record<Meaning, ReportKind>> = {
  "hard-bounce": "hard-bounce",
  "soft-bounce": "soft-bounce",
  // Given up at last.
  temporary: "soft-bounce",
  unavailable: "soft-bounce",
  throttled: "refused",
  policy: "refused",
  message: "refused",
};

export function kindOf(cause: Cause): ReportKind {
  return KINDS[CAUSES[cause].meaning];
}

/** What a transport told at once; in order. It is told with the booking of its attempt, so only once. */
export const FEEDBACK: Readonly<Record<Feedback, readonly Interpretation[]>> = {
  delivered: [INTERPRETATIONS.delivered],
  bounced: [INTERPRETATIONS["hard-bounce"]],
  // These never left: they stay FAILED, and their events say so.
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

/** Of a mail that never left nothing is booked any more, but whoever does not want more of them gets no more. */
export function afterTheEnd({ unsubscribe }: Interpretation): Interpretation {
  return row(null, { unsubscribe });
}

/** States of mails that have left, of which something can come back. */
export function hasLeft(status: EmailStatus): boolean {
  return LEFT_STATUSES.includes(status);
}

/** States of mails that never will. */
export function neverLeaves(status: EmailStatus): boolean {
  return status === "FAILED" || status === "SKIPPED";
}

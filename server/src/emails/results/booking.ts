// Maps the outcome of an attempt to the email's next status, wait and stored reply. Pure.
import type { EmailKind } from "@postloft/contract/emails.ts";
import type { Category } from "../../transports/replies/replies.ts";
import type { Feedback, Outcome } from "../../transports/transport.ts";
import { retryWaitMs, waitInDoubtMs } from "../rows/rules.ts";

export type Recorded = Exclude<Outcome, { kind: "withdrawn" }>;

/** The fields of an email and its attempt that decide the result. */
export interface Attempt {
  kind: EmailKind;
  /** Number of this attempt, starting at 1. */
  number: number;
  /** Earlier attempts that ended in doubt, as far as the caller knows. */
  earlierDoubts: number;
  /** Random number between 0 and 1. */
  random: number;
  /** Name of the configured transport. An outcome may name the specific route it took. */
  transportName: string;
}

export interface Recording {
  status: "SENT" | "QUEUED" | "FAILED" | "UNCONFIRMED";
  /** Why the email was not sent, or null if it was sent. */
  reason: string | null;
  waitMs: number;
  sent: { transport: string; answer: string; providerMessageId: string | null } | null;
  /** The attempt to store if the email was not sent. */
  attempt: { outcome: string; answer: string; transport: string; meaning: Category | null } | null;
  /** Feedback from the reply itself, which is interpreted like a report. */
  feedback: Feedback | null;
}

/** Categories of a rejected recipient that count as a bounce. */
const BOUNCES: Readonly<Partial<Record<Category, Feedback>>> = {
  "hard-bounce": "unknown-address",
  "soft-bounce": "soft-bounced",
};

export function resultOf(outcome: Recorded, attempt: Attempt): Recording {
  const transport = outcome.by ?? attempt.transportName;
  const meaning = categoryOf(outcome);
  const unsent = {
    reason: outcome.answer,
    waitMs: 0,
    sent: null,
    attempt: { outcome: outcome.kind, answer: outcome.answer, transport, meaning },
    feedback: null,
  };
  switch (outcome.kind) {
    case "sent": {
      const { answer, providerMessageId = null, feedback = null } = outcome;
      const sent = { transport, answer, providerMessageId };
      return { status: "SENT", reason: null, waitMs: 0, sent, attempt: null, feedback };
    }
    case "rejected":
      return { ...unsent, status: "FAILED", feedback: (meaning && BOUNCES[meaning]) ?? null };
    case "uncertain": {
      const { kind, number: attempts, earlierDoubts, random } = attempt;
      const waitMs = waitInDoubtMs(kind, { attempts, earlierDoubts }, random);
      return waitMs === null ? { ...unsent, status: "UNCONFIRMED" } : { ...unsent, status: "QUEUED", waitMs };
    }
    case "deferred": {
      const waitMs = outcome.retryAfterMs ?? retryWaitMs(attempt.kind, attempt.number, attempt.random);
      if (waitMs !== null) return { ...unsent, status: "QUEUED", waitMs };
      // Given up. It is a soft bounce if the mailbox kept deferring the email, and not if the route to it failed.
      return { ...unsent, status: "FAILED", feedback: meaning === "temporary" ? "soft-bounced" : null };
    }
  }
}

/** Returns the category of the reply, or null if no server replied. */
function categoryOf(outcome: Recorded): Category | null {
  if (outcome.kind === "rejected") return outcome.meaning ?? null;
  if (outcome.kind !== "deferred") return null;
  if (outcome.throttled === true) return "throttled";
  return outcome.outage === true ? "unavailable" : "temporary";
}

// What the outcome of an attempt means for the mail: its next state, how long it waits, what is kept of the answer. Pure.
import type { EmailKind } from "@postloft/contract/emails.ts";
import type { Meaning } from "../../transports/answers/answers.ts";
import type { Feedback, Outcome } from "../../transports/transport.ts";
import { retryWaitMs, waitInDoubtMs } from "../outbox/rules.ts";

export type Booked = Exclude<Outcome, { kind: "withdrawn" }>;

/** A mail and its attempt, as far as the booking depends on them. */
export interface Attempt {
  kind: EmailKind;
  /** This one included. */
  number: number;
  /** Of those before it, how many ended in doubt, as far as that is known here. */
  earlierDoubts: number;
  /** 0 to 1. */
  random: number;
  /** Of the whole way out; an outcome may name the one of several that it was. */
  transportName: string;
}

export interface Booking {
  status: "SENT" | "QUEUED" | "FAILED" | "UNCONFIRMED";
  /** Why it was not sent; null when it was. */
  reason: string | null;
  waitMs: number;
  sent: { transport: string; answer: string; providerMessageId: string | null } | null;
  /** What is kept of an attempt that did not end in sent. */
  attempt: { outcome: string; answer: string; transport: string; meaning: Meaning | null } | null;
  /** What came back with the answer, to be interpreted like a report. */
  feedback: Feedback | null;
}

/** A mailbox that did not take the mail, told at the door. */
const BOUNCES: Readonly<Partial<Record<Meaning, Feedback>>> = {
  "hard-bounce": "unknown-address",
  "soft-bounce": "soft-bounced",
};

export function bookingOf(outcome: Booked, attempt: Attempt): Booking {
  const transport = outcome.by ?? attempt.transportName;
  const meaning = meaningOf(outcome);
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
      // Given up. When it was the mailbox that never took it, and not the way there, that is a soft bounce.
      return { ...unsent, status: "FAILED", feedback: meaning === "temporary" ? "soft-bounced" : null };
    }
  }
}

/** What the answer meant; null where no server said anything. */
function meaningOf(outcome: Booked): Meaning | null {
  if (outcome.kind === "rejected") return outcome.meaning ?? null;
  if (outcome.kind !== "deferred") return null;
  if (outcome.throttled === true) return "throttled";
  return outcome.outage === true ? "unavailable" : "temporary";
}

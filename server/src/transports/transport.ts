// The contract between the sender and whatever takes a finished message away: few members, one outcome type.
import type { Meaning, RefusalMeaning } from "./answers/answers.ts";

/** Messages in handover at once unless the setting says otherwise: so many can be in doubt after a crash (promise P3). */
/** SES developer guide, "Amazon SES header fields" and "Manual DKIM signing"; and Feedback-ID, which it adds (docs/decisions/0014-mail-through-ses.md). */
export const REWRITTEN_BY_SES: readonly string[] = ["date", "message-id", "feedback-id"];

export const DEFAULT_CONNECTIONS = 20;

/** A message as bytes with its envelope, ready to leave. The headers inside `raw` say nothing about where it goes. */
export interface OutgoingMessage {
  emailId: string;
  projectId: string;
  /** 1 at the first attempt to send this mail. */
  attempt: number;
  /** RFC 5321 envelope: reverse-path and forward-paths, bare addresses with A-label domains. */
  envelope: { from: string; to: readonly string[] };
  /** Whom a transport tells of bounces that takes no return path of ours; default: `envelope.from`. */
  feedbackTo?: string;
  /** The whole RFC 5322 message: CRLF line ends, no dot-stuffing, signed. */
  raw: Buffer;
  /** Gives the memory of `raw` back, when `send` has answered `sent`: messages are many and large. */
  free?: () => void;
  /** Some envelope address has a local part outside ASCII, so the server must offer SMTPUTF8 (RFC 6531). */
  needsSmtpUtf8: boolean;
  /** What complaints are counted by, for a transport that writes Feedback-ID itself; the narrowest first. */
  streams?: readonly string[];
}

/**
 * What the other side tells later about a message it took; the local mailbox tells it at once. `unknown-address` and
 * `soft-bounced` also come instead of a handover: the server refused the address, or its mailbox did not take the mail.
 */
export type Feedback = "delivered" | "bounced" | "soft-bounced" | "complained" | "unknown-address";

/**
 * Where an attempt ended. Exactly one of these for every call of `send`. `by`: which of several transports it was, where
 * the name of the transport does not say so. `providerMessageId`: what the other side calls the message in its notices.
 */
export type Outcome =
  /** The other side answered that it has the message. */
  | { kind: "sent"; answer: string; feedback?: Feedback; providerMessageId?: string; by?: string }
  /**
   * Surely not taken, and worth another attempt: 4xx, no connection, a drop before the final dot. `outage`: the reason
   * lies with the server, the way to it or our account there, so another transport may take the same message now.
   * `throttled`: it was too much or too fast.
   */
  | { kind: "deferred"; answer: string; retryAfterMs?: number; outage?: true; throttled?: true; by?: string }
  /** Surely not taken, and never will be: 5xx. Without a meaning we refused it ourselves, before any server saw it. */
  | { kind: "rejected"; answer: string; meaning?: RefusalMeaning; by?: string }
  /** The final dot left and no answer was seen: taken or not, nobody knows (RFC 1047). */
  | { kind: "uncertain"; answer: string; by?: string }
  /** The handover check was closed: this process no longer holds the message, nothing was handed over. */
  | { kind: "withdrawn" };

/** The outcome of an answer that refuses. `outage`: whether another transport may take the same message now. */
export function refusalOutcome(meaning: Meaning, answer: string, outage?: true): Outcome {
  switch (meaning) {
    case "temporary":
      return { kind: "deferred", answer };
    case "throttled":
      return { kind: "deferred", answer, throttled: true, ...(outage === true ? { outage } : {}) };
    case "unavailable":
      return { kind: "deferred", answer, outage: true };
    default:
      return { kind: "rejected", answer, meaning };
  }
}

/**
 * Commits "handover is imminent" for the message and tells whether it is still ours to send. A transport calls it
 * exactly once, after everything that can fail harmlessly and immediately before the act that cannot be taken back
 * (the final dot). On `false` it must leave the message unsent and answer `withdrawn`. It may be called again when that
 * act surely failed and another transport is about to try: it says `true` while the message is still ours.
 */
export type MayLeave = () => Promise<boolean>;

/** What trying a transport without a message showed. */
export interface Reachable {
  /** What the server calls itself, where it says so. */
  serverName?: string;
  /** Such as `TLSv1.3`; null: in clear. */
  tls: string | null;
  /** `untried`: the login only shows with the first message. */
  login: "accepted" | "none" | "untried";
}

export interface Transport {
  /** `mailbox`, `smtp`, `ses`, or several with a comma: shown in logs, metrics and the mail's timeline. */
  readonly name: string;
  /** Bounces come back to the envelope's sender, over SMTP. Of several transports one is enough: each mail may go that way. */
  readonly takesReturnPath?: boolean;
  /** Header fields (lower case) that the other side writes itself, whatever the message says: no signature may cover them. */
  readonly rewrites?: readonly string[];
  /** Hands one message over. Never throws for what the other side did: that is an `Outcome`. */
  send(message: OutgoingMessage, mayLeave: MayLeave): Promise<Outcome>;
  /**
   * Gets as far as a message would before its sender is named. Absent where nothing leaves this machine.
   * @throws Error whose text says what failed, fit for a log
   */
  reach?(): Promise<Reachable>;
  /** Ends idle connections and waits for messages in flight. */
  close(): Promise<void>;
}

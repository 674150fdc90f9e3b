// The contract between the sender and anything that sends finished messages: few members and one outcome type.
import type { Category, RejectionCategory } from "./replies/replies.ts";

/**
 * Header fields that SES rewrites (SES developer guide, "Amazon SES header fields" and "Manual DKIM signing"), and Feedback-ID,
 * which SES adds (docs/decisions/0014-mail-through-ses.md).
 */
export const REWRITTEN_BY_SES: readonly string[] = ["date", "message-id", "feedback-id"];

/** Default number of concurrent submissions, which limits the number of messages in doubt after a crash (promise P3). */
export const DEFAULT_CONNECTIONS = 20;

/** A message as bytes with its envelope, ready to leave. The headers inside `raw` do not affect its recipients. */
export interface OutgoingMessage {
  emailId: string;
  projectId: string;
  /** Starts at 1. */
  attempt: number;
  /** RFC 5321 envelope: reverse-path and forward-paths, bare addresses with A-label domains. */
  envelope: { from: string; to: readonly string[] };
  /** Address for bounces if the transport does not support our return path. Default: `envelope.from`. */
  feedbackTo?: string;
  /** The whole RFC 5322 message: CRLF line ends, no dot-stuffing, signed. */
  raw: Buffer;
  /** Releases the memory of `raw` after `send` returned `sent`, because messages are many and large. */
  free?: () => void;
  /** Whether an envelope address has a non-ASCII local part, so that the server must offer SMTPUTF8 (RFC 6531). */
  needsSmtpUtf8: boolean;
  /** Whether `raw` has bytes outside ASCII, so that the server must offer 8BITMIME (RFC 6152). Default: false. */
  is8Bit?: boolean;
  /** Complaint statistics keys for a transport that writes Feedback-ID itself, the narrowest first. */
  streams?: readonly string[];
}

/**
 * Later report about an accepted message; the local mailbox reports immediately.
 * `unknown-address` and `soft-bounced` also replace a submission when the server rejects the address or its mailbox.
 */
export type Feedback = "delivered" | "bounced" | "soft-bounced" | "complained" | "unknown-address";

/**
 * Result of an attempt; every call of `send` returns exactly one.
 * `by` names one of several transports, unless the transport's name identifies it. `providerMessageId` is the server's id for the message
 * in its notices.
 */
export type Outcome =
  /** The server confirmed that it has the message. */
  | { kind: "sent"; answer: string; feedback?: Feedback; providerMessageId?: string; by?: string }
  /**
   * Certainly not accepted, but worth another attempt: 4xx, no connection, or a drop before the end of the message.
   * `outage`: the cause is the server, the connection or our account, so another transport may accept the message now.
   * `throttled`: too much or too fast.
   */
  | { kind: "deferred"; answer: string; retryAfterMs?: number; outage?: true; throttled?: true; by?: string }
  /** Certainly not accepted, and never will be: 5xx. Without `meaning` we rejected it ourselves before contacting a server. */
  | { kind: "rejected"; answer: string; meaning?: RejectionCategory; by?: string }
  /** The end of the message was sent but no reply arrived, so it may or may not have been accepted (RFC 1047). */
  | { kind: "uncertain"; answer: string; by?: string }
  /** The pre-send check was closed: this process no longer owns the message, and nothing was sent. */
  | { kind: "withdrawn" };

/**
 * Returns the outcome of a rejection.
 * @param outage whether another transport may accept the same message now
 */
export function rejectionOutcome(meaning: Category, answer: string, outage?: true): Outcome {
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
 * Commits that submission is imminent, and returns whether the message is still ours to send.
 * A transport calls this immediately before the irreversible step, which is the final dot, or the write of a whole message with CHUNKING.
 * On `false` it must not send and must return `withdrawn`.
 * The transport or another one may call it again if that step certainly failed. It returns `true` while the message is still ours.
 */
export type MayLeave = () => Promise<boolean>;

/** Result of trying a transport without a message. */
export interface Reachable {
  /** The server's own name, if it gives one. */
  serverName?: string;
  /** TLS version such as `TLSv1.3`; null without encryption. */
  tls: string | null;
  /** `untried`: the login is tested only by the first message. */
  login: "accepted" | "none" | "untried";
}

export interface Transport {
  /** `mailbox`, `smtp`, `ses`, or several joined by commas. Shown in logs, metrics and the email's timeline. */
  readonly name: string;
  /** Whether bounces return to the envelope sender over SMTP. For a list one such transport is enough because any email may use it. */
  readonly takesReturnPath?: boolean;
  /** Header fields (lower case) that the server rewrites, so that no signature may cover them. */
  readonly rewrites?: readonly string[];
  /** Submits one message. Server failures never throw; they are returned as an `Outcome`. */
  send(message: OutgoingMessage, mayLeave: MayLeave): Promise<Outcome>;
  /**
   * Goes as far as a message would before MAIL. Absent if nothing leaves this machine.
   * @throws Error with the reason, suitable for a log
   */
  reach?(): Promise<Reachable>;
  /** Closes idle connections and waits for messages in flight. */
  close(): Promise<void>;
}

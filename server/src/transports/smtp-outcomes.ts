// Turns the replies to one message into its outcome and the state of the session.
import { classify, type RepliedPart } from "./replies/replies.ts";
import { describeReply, toPrintableLine, wordsOf, type SmtpReply } from "./smtp-replies.ts";
import { rejectionOutcome, type Outcome } from "./transport.ts";

export interface Delivery {
  outcome: Outcome;
  /** State of the session: ready for another message, ready after RSET, or to be closed. */
  session: "ready" | "needs-reset" | "gone";
  /**
   * How the message may be sent again immediately, because it was certainly not accepted.
   * `fresh-connection`: the connection was dead or closed by 421 before the reply to MAIL. `single-commands`: grouped commands got no reply
   * or one out of order, so the server may lose them. `data`: the server offers BDAT and does not support it.
   */
  retry?: "fresh-connection" | "single-commands" | "data";
}

/** Progress of the dialogue, used to interpret a failure. */
export interface Progress {
  mailAnswered: boolean;
  /** From the final dot or the last chunk on, a missing reply leaves open whether the message was accepted. */
  mayBeAccepted: boolean;
  /** How to send the message again if the next reply to a group of commands does not arrive. */
  retryIfSilent: Delivery["retry"] | undefined;
}

export const SHUTTING_DOWN = 421;
const BAD_SEQUENCE = 503;
/** RFC 5321 §4.2.3: 500 to 504 are about the command. */
const FIRST_COMMAND_ERROR = 500;
const LAST_COMMAND_ERROR = 504;
/** RFC 3463: invalid command. Some servers send this code with 554 for DATA without a recipient. */
const NOT_THE_COMMAND = /^5\.5\.1\b/;
/** Limit that leaves room for the names of rejected recipients after a long reply. */
const MAX_SENT_TEXT_LENGTH = 150;
/** Amazon SES over SMTP: `250 Ok <message id>` (SES developer guide, "SMTP response codes"). */
const SES_ACCEPTANCE = /^250 Ok ([0-9a-f]{16}-[0-9a-f-]{36}-\d{6})$/;

/** Returns the delivery for the reply to the whole message. `refused` are the texts about rejected secondary recipients. */
export function conclude(reply: SmtpReply, recipients: number, refused: readonly string[]): Delivery {
  if (isAccepted(reply)) {
    const text = describeReply(reply);
    const [, sesId] = SES_ACCEPTANCE.exec(text) ?? [];
    const named = sesId === undefined ? {} : { providerMessageId: sesId };
    return ready({ kind: "sent", answer: describeSent(text, refused), ...named });
  }
  return reply.code >= 400 ? refuse("DOT", reply, "message", recipients) : unexpected("DOT", reply);
}

function describeSent(text: string, refused: readonly string[]): string {
  if (refused.length === 0) return text;
  return toPrintableLine(`${text.slice(0, MAX_SENT_TEXT_LENGTH)} (but ${refused.join("; ")})`);
}

/** Returns the delivery after a reply without meaning, when the server may have the message. */
export function unexpected(phase: string, reply: SmtpReply): Delivery {
  return inDoubt(`${phase}: unexpected reply ${describeReply(reply)}`);
}

/** Returns the delivery for any reply other than the expected one before the message was accepted. */
export function refuse(phase: string, reply: SmtpReply, part: RepliedPart, recipients: number): Delivery {
  const text = describeReply(reply);
  if (reply.code < 400)
    return gone(rejectionOutcome("unavailable", toPrintableLine(`${phase}: unexpected reply ${text}`)));
  const classified = classify({ code: reply.code, text: wordsOf(reply), part, recipients });
  const blame =
    classified.meaning === "unavailable" ? "our login or encryption does not satisfy the server: " : "";
  const outcome = rejectionOutcome(
    classified.meaning,
    toPrintableLine(`${phase}: ${blame}${text}`),
    classified.outage,
  );
  return reply.code === SHUTTING_DOWN ? gone(outcome) : needsReset(outcome);
}

/**
 * Detects lost commands. MAIL was accepted, so a server that then reports a bad sequence (RFC 5321 §4.2.3) did not read the whole group.
 */
export function inOrder(rejection: Delivery, reply: SmtpReply, pipelining: boolean): Delivery {
  const isOutOfOrder =
    pipelining && (reply.code === BAD_SEQUENCE || NOT_THE_COMMAND.test(reply.lines[0] ?? ""));
  return isOutOfOrder ? { ...rejection, session: "gone", retry: "single-commands" } : rejection;
}

/**
 * Detects a server that does not support BDAT, from the reply to a chunk after accepted MAIL and RCPT commands. The server may have read the
 * chunk as commands, so the session must end.
 */
export function asChunkReply(rejection: Delivery, reply: SmtpReply): Delivery {
  const isAboutCommand =
    (reply.code >= FIRST_COMMAND_ERROR && reply.code <= LAST_COMMAND_ERROR) ||
    NOT_THE_COMMAND.test(reply.lines[0] ?? "");
  return isAboutCommand ? { ...rejection, session: "gone", retry: "data" } : rejection;
}

export function isAccepted(reply: SmtpReply): boolean {
  return reply.code >= 200 && reply.code < 300;
}

/** Returns the texts of rejections, for the email's timeline. */
export function textsOf(rejections: readonly Delivery[]): string[] {
  return rejections.flatMap(({ outcome }) => ("answer" in outcome ? [outcome.answer] : []));
}

/** Returns the delivery of a message that we reject ourselves before its first command. */
export function rejectUnsent(text: string): Delivery {
  return ready({ kind: "rejected", answer: text });
}

/** Returns the delivery after a failure when the message was certainly not accepted. */
export function outage(text: string): Delivery {
  return gone({ kind: "deferred", answer: text, outage: true });
}

/** Returns the delivery after a failure when the server may have the message. */
export function inDoubt(text: string): Delivery {
  return gone({ kind: "uncertain", answer: toPrintableLine(text) });
}

export function ready(outcome: Outcome): Delivery {
  return { outcome, session: "ready" };
}

function needsReset(outcome: Outcome): Delivery {
  return { outcome, session: "needs-reset" };
}

export function gone(outcome: Outcome): Delivery {
  return { outcome, session: "gone" };
}

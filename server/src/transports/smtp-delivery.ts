// Sends one message over an open session: MAIL, RCPT, DATA, the bytes, the pre-send check and the final dot.
import { failpoint } from "../platform/failpoints.ts";
import { classify, type RepliedPart } from "./replies/replies.ts";
import type { EnvelopePaths } from "./smtp-address.ts";
import { describeReply, SmtpFailure, toPrintableLine, wordsOf, type SmtpReply } from "./smtp-replies.ts";
import type { SmtpExtensions, SmtpSession } from "./smtp-session.ts";
import type { SmtpTimeouts } from "./smtp-timeouts.ts";
import { rejectionOutcome, type MayLeave, type Outcome } from "./transport.ts";

/** A message that was checked to be safe on the wire. */
export interface SmtpMessage {
  paths: EnvelopePaths;
  /** Dot-stuffed, ending in CRLF. */
  body: Buffer;
  /** Before dot-stuffing, for SIZE (RFC 1870 §3). */
  sizeBytes: number;
  needsSmtpUtf8: boolean;
  /** Starts at 1. */
  attempt: number;
}

export interface Delivery {
  outcome: Outcome;
  /** State of the session: ready for another message, ready after RSET, or to be closed. */
  session: "ready" | "needs-reset" | "gone";
  /** The connection was lost or closed by 421 before the reply to MAIL, so a fresh connection may work immediately. */
  neverBegan: boolean;
  /** Pipelined commands got no reply or one out of order, so the server may lose them. Single commands may work. */
  lostCommands: boolean;
}

const BLOCK_BYTES = 256 * 1024;
/** Limit that leaves room for the names of rejected recipients after a long reply. */
const MAX_SENT_TEXT_LENGTH = 150;
const SHUTTING_DOWN = 421;
const BAD_SEQUENCE = 503;
/** RFC 3463: invalid command. Some servers send this code with 554 for DATA without a recipient. */
const NOT_THE_COMMAND = /^5\.5\.1\b/;
/**
 * Number of attempts during which a temporarily rejected copy delays the message. They cover about ten minutes, the usual time of
 * greylisting.
 */
const ATTEMPTS_FOR_COPIES = 3;
/** Amazon SES over SMTP: `250 Ok <message id>` (SES developer guide, "SMTP response codes"). */
const SES_ACCEPTANCE = /^250 Ok ([0-9a-f]{16}-[0-9a-f-]{36}-\d{6})$/;

/** Progress of the dialogue, used to interpret a failure. */
interface Progress {
  mailAnswered: boolean;
  /** Whether replies to pipelined commands are pending. */
  inGroup: boolean;
  /** From here on, a missing reply leaves open whether the message was accepted. */
  dotWritten: boolean;
}

/**
 * Sends one message. Resolves for any server behavior. Rejects only with the error of the pre-send check, in which case nothing was sent.
 */
export async function deliver(
  session: SmtpSession,
  mail: SmtpMessage,
  mayLeave: MayLeave,
  timeouts: SmtpTimeouts,
  mayPipeline: boolean,
): Promise<Delivery> {
  const progress: Progress = { mailAnswered: false, inGroup: false, dotWritten: false };
  const pipelining = mayPipeline && session.extensions.pipelining;
  session.messageCount += 1;
  try {
    return await converse(session, mail, mayLeave, timeouts, { progress, pipelining });
  } catch (error) {
    session.connection.destroy("given up");
    // After the dot the server may have the message, even if the failure is a bug of ours.
    if (progress.dotWritten) return gone({ kind: "uncertain", answer: toPrintableLine(textOf(error)) });
    if (!(error instanceof SmtpFailure)) throw error;
    // A reply before the dot is the server's decision, even if the server then closes.
    const lastReply = session.connection.takeUnaskedReply();
    if (lastReply !== undefined) return interrupted(lastReply, mail);
    const neverBegan = !progress.mailAnswered && error.kind === "closed";
    const lostCommands = progress.inGroup && progress.mailAnswered && error.kind === "silent";
    return { ...gone({ kind: "deferred", answer: error.message, outage: true }), neverBegan, lostCommands };
  }
}

async function converse(
  session: SmtpSession,
  mail: SmtpMessage,
  mayLeave: MayLeave,
  timeouts: SmtpTimeouts,
  { progress, pipelining }: { progress: Progress; pipelining: boolean },
): Promise<Delivery> {
  const { connection, extensions } = session;
  if (mail.needsSmtpUtf8 && !extensions.smtpUtf8)
    return ready({
      kind: "rejected",
      answer: "5.6.7 an address needs SMTPUTF8, which the server does not offer",
    });
  const envelope = await announce(session, mail, timeouts, { progress, pipelining });
  if ("refusal" in envelope) return envelope.refusal;

  if (!envelope.dataAsked) connection.write(["DATA"]);
  const dataMs = envelope.dataAsked ? Math.min(timeouts.dataMs, timeouts.pipelineMs) : timeouts.dataMs;
  const goAhead = await connection.readReply("DATA", dataMs);
  if (goAhead.code !== 354)
    return inOrder(refuse("DATA", goAhead, "message", mail), goAhead, envelope.dataAsked);
  progress.inGroup = false;
  const interruption = await transmit(session, mail, timeouts);
  if (interruption !== undefined) return interruption;

  if (!(await mayLeave())) return gone({ kind: "withdrawn" });
  await failpoint("dot.before");
  if (!connection.isUsable())
    throw new SmtpFailure("closed", "BODY: the connection was lost before the final dot");
  progress.dotWritten = true;
  connection.write(["."]);
  await failpoint("dot.after");
  return conclude(await connection.readReply("DOT", timeouts.finalDotMs), mail, envelope.refused);
}

/**
 * Sends MAIL and RCPT commands, as one group with `pipelining` (RFC 2920).
 * DATA joins the group only for a single recipient. With several, DATA waits until the rejected recipients are known.
 */
async function announce(
  { connection, extensions }: SmtpSession,
  mail: SmtpMessage,
  timeouts: SmtpTimeouts,
  { progress, pipelining }: { progress: Progress; pipelining: boolean },
): Promise<{ refusal: Delivery } | { refused: readonly string[]; dataAsked: boolean }> {
  const recipientCommands = mail.paths.to.map((path) => `RCPT TO:${path}`);
  const dataAsked = pipelining && recipientCommands.length === 1;
  connection.write([
    mailCommand(mail, extensions),
    ...(pipelining ? recipientCommands : []),
    ...(dataAsked ? ["DATA"] : []),
  ]);
  const reply = await connection.readReply("MAIL", timeouts.mailMs);
  if (reply.code === SHUTTING_DOWN)
    return { refusal: { ...refuse("MAIL", reply, "mail", mail), neverBegan: true } };
  progress.mailAnswered = true;
  progress.inGroup = pipelining;
  if (!isAccepted(reply)) return { refusal: refuse("MAIL", reply, "mail", mail) };

  const rejections: Delivery[] = [];
  let primaryRejection: Delivery | undefined;
  for (const [index, command] of recipientCommands.entries()) {
    if (!pipelining) connection.write([command]);
    const phase = index === 0 ? "RCPT" : `RCPT ${mail.paths.to[index]}`;
    const { recipientMs, pipelineMs } = timeouts;
    const answer = await connection.readReply(
      phase,
      pipelining ? Math.min(recipientMs, pipelineMs) : recipientMs,
    );
    if (isAccepted(answer)) continue;
    const refusal = inOrder(refuse(phase, answer, "rcpt", mail), answer, pipelining);
    if (refusal.session === "gone") return { refusal };
    rejections.push(refusal);
    if (index === 0) primaryRejection = refusal;
  }
  // Temporarily rejected copies delay the message for a few attempts. After that only the primary recipient counts.
  const deferred = rejections.find(({ outcome }) => outcome.kind === "deferred");
  const decisive = (mail.attempt <= ATTEMPTS_FOR_COPIES ? deferred : undefined) ?? primaryRejection;
  if (decisive !== undefined) return { refusal: decisive };
  const refused = rejections.flatMap(({ outcome }) => ("answer" in outcome ? [outcome.answer] : []));
  return { refused, dataAsked };
}

function mailCommand({ paths, sizeBytes, needsSmtpUtf8 }: SmtpMessage, extensions: SmtpExtensions): string {
  const size = extensions.size ? ` SIZE=${sizeBytes}` : "";
  const body = extensions.eightBitMime ? " BODY=8BITMIME" : "";
  return `MAIL FROM:${paths.from}${size}${body}${needsSmtpUtf8 ? " SMTPUTF8" : ""}`;
}

/** Writes everything except the final dot. Stops when the server sends a reply early. */
async function transmit(
  session: SmtpSession,
  mail: SmtpMessage,
  timeouts: SmtpTimeouts,
): Promise<Delivery | undefined> {
  for (let start = 0; start < mail.body.length; start += BLOCK_BYTES) {
    const early = session.connection.takeUnaskedReply();
    if (early !== undefined) return interrupted(early, mail);
    const block = mail.body.subarray(start, start + BLOCK_BYTES);
    await session.connection.writeBlock(block, "BODY", timeouts.dataBlockMs);
  }
  return undefined;
}

/** Returns an early rejection. The connection must close mid-message so that the server does not accept half of it. */
function interrupted(reply: SmtpReply, mail: SmtpMessage): Delivery {
  return { ...refuse("BODY", reply, "message", mail), session: "gone" };
}

function conclude(reply: SmtpReply, mail: SmtpMessage, refused: readonly string[]): Delivery {
  if (isAccepted(reply)) {
    const text = describeReply(reply);
    const [, sesId] = SES_ACCEPTANCE.exec(text) ?? [];
    const named = sesId === undefined ? {} : { providerMessageId: sesId };
    return ready({ kind: "sent", answer: describeSent(text, refused), ...named });
  }
  if (reply.code >= 400) return refuse("DOT", reply, "message", mail);
  const answer = toPrintableLine(`DOT: unexpected reply ${describeReply(reply)}`);
  return gone({ kind: "uncertain", answer });
}

function describeSent(text: string, refused: readonly string[]): string {
  if (refused.length === 0) return text;
  return toPrintableLine(`${text.slice(0, MAX_SENT_TEXT_LENGTH)} (but ${refused.join("; ")})`);
}

/** Returns the delivery for any reply other than the expected one before the message was accepted. */
function refuse(phase: string, reply: SmtpReply, part: RepliedPart, mail: SmtpMessage): Delivery {
  const text = describeReply(reply);
  if (reply.code < 400)
    return gone(rejectionOutcome("unavailable", toPrintableLine(`${phase}: unexpected reply ${text}`)));
  const classified = classify({
    code: reply.code,
    text: wordsOf(reply),
    part,
    recipients: mail.paths.to.length,
  });
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
function inOrder(rejection: Delivery, reply: SmtpReply, pipelining: boolean): Delivery {
  const isOutOfOrder =
    pipelining && (reply.code === BAD_SEQUENCE || NOT_THE_COMMAND.test(reply.lines[0] ?? ""));
  return isOutOfOrder ? { ...rejection, session: "gone", lostCommands: true } : rejection;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isAccepted(reply: SmtpReply): boolean {
  return reply.code >= 200 && reply.code < 300;
}

function ready(outcome: Outcome): Delivery {
  return { outcome, session: "ready", neverBegan: false, lostCommands: false };
}

function needsReset(outcome: Outcome): Delivery {
  return { outcome, session: "needs-reset", neverBegan: false, lostCommands: false };
}

function gone(outcome: Outcome): Delivery {
  return { outcome, session: "gone", neverBegan: false, lostCommands: false };
}

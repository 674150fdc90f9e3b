// Sends one message over an open session: the envelope, the bytes, the pre-send check, and what completes the message.
import { failpoint } from "../platform/failpoints.ts";
import { chunksOf, concludeChunks, maySendAtOnce, sendAtOnce, type Chunks } from "./smtp-chunking.ts";
import { mailCommand, recipientCommands, type SmtpMessage } from "./smtp-commands.ts";
import {
  asChunkReply,
  conclude,
  gone,
  inDoubt,
  inOrder,
  isAccepted,
  outage,
  refuse,
  rejectUnsent,
  SHUTTING_DOWN,
  textsOf,
  type Delivery,
  type Progress,
} from "./smtp-outcomes.ts";
import { SmtpFailure, type SmtpReply } from "./smtp-replies.ts";
import type { SmtpSession } from "./smtp-session.ts";
import type { SmtpTimeouts } from "./smtp-timeouts.ts";
import type { MayLeave } from "./transport.ts";

/** The extensions that may be used where the server offers them. */
export interface Means {
  pipelining: boolean;
  chunking: boolean;
}

interface Dialogue {
  progress: Progress;
  pipelining: boolean;
  /** Present for BDAT. */
  chunks: Chunks | undefined;
}

const BLOCK_BYTES = 256 * 1024;
/**
 * Number of attempts during which a temporarily rejected copy delays the message. They cover about ten minutes, the usual time of
 * greylisting.
 */
const ATTEMPTS_FOR_COPIES = 3;

/**
 * Sends one message. Resolves for any server behavior. Rejects only with the error of the pre-send check, in which case nothing was sent.
 */
export async function deliver(
  session: SmtpSession,
  mail: SmtpMessage,
  mayLeave: MayLeave,
  timeouts: SmtpTimeouts,
  means: Means,
): Promise<Delivery> {
  const progress: Progress = { mailAnswered: false, mayBeAccepted: false, retryIfSilent: undefined };
  const pipelining = means.pipelining && session.extensions.pipelining;
  // RFC 3030 §4.2: BDAT may join a group only with PIPELINING.
  const chunks = pipelining && means.chunking ? chunksOf(session, mail) : undefined;
  session.messageCount += 1;
  try {
    const { smtpUtf8, eightBitMime } = session.extensions;
    if (mail.needsSmtpUtf8 && !smtpUtf8)
      return rejectUnsent("5.6.7 the message needs SMTPUTF8, which the server does not offer");
    if (mail.is8Bit && !eightBitMime)
      return rejectUnsent("5.6.3 the message needs 8BITMIME, which the server does not offer");
    if (chunks !== undefined && maySendAtOnce(session, timeouts))
      return await sendAtOnce(session, mail, mayLeave, timeouts, progress);
    return await converse(session, mail, mayLeave, timeouts, { progress, pipelining, chunks });
  } catch (error) {
    session.connection.destroy("given up");
    // The server may have the message, even if the failure is a bug of ours.
    if (progress.mayBeAccepted) return inDoubt(textOf(error));
    if (!(error instanceof SmtpFailure)) throw error;
    // A reply before the end of the message is the server's decision, even if the server then closes.
    const lastReply = session.connection.takeUnaskedReply();
    if (lastReply !== undefined) return interrupted(lastReply, mail);
    const retry =
      error.kind === "closed" && !progress.mailAnswered
        ? "fresh-connection"
        : error.kind === "silent"
          ? progress.retryIfSilent
          : undefined;
    const delivery = outage(error.message);
    return retry === undefined ? delivery : { ...delivery, retry };
  }
}

/** Sends everything that can fail harmlessly, asks the pre-send check, and completes the message. */
async function converse(
  session: SmtpSession,
  mail: SmtpMessage,
  mayLeave: MayLeave,
  timeouts: SmtpTimeouts,
  dialogue: Dialogue,
): Promise<Delivery> {
  const { connection } = session;
  const { progress, chunks } = dialogue;
  const wire = mail.wireBody();
  if ("refusal" in wire) return rejectUnsent(wire.refusal);
  const envelope = await announce(session, mail, timeouts, dialogue);
  if ("refusal" in envelope) return envelope.refusal;
  const obstacle =
    chunks === undefined
      ? await startData(session, mail, timeouts, { progress, dataAsked: envelope.dataAsked, body: wire.body })
      : await startChunks(session, mail, timeouts, progress);
  if (obstacle !== undefined) return obstacle;

  if (!(await mayLeave())) return gone({ kind: "withdrawn" });
  await failpoint("dot.before");
  if (!connection.isUsable())
    throw new SmtpFailure("closed", "BODY: the connection was lost before the message was complete");
  progress.mayBeAccepted = true;
  if (chunks === undefined) connection.write(["."]);
  else connection.write([`BDAT ${chunks.rest.length} LAST`], chunks.rest);
  await failpoint("dot.after");
  const reply = await connection.readReply("DOT", timeouts.finalDotMs);
  return chunks === undefined
    ? conclude(reply, mail.paths.to.length, envelope.refused)
    : concludeChunks(reply);
}

/**
 * Sends MAIL and RCPT commands, as one group with `pipelining` (RFC 2920).
 * DATA joins the group only for a single recipient. With several, DATA waits until the rejected recipients are known.
 */
async function announce(
  { connection, extensions }: SmtpSession,
  mail: SmtpMessage,
  timeouts: SmtpTimeouts,
  { progress, pipelining, chunks }: Dialogue,
): Promise<{ refusal: Delivery } | { refused: readonly string[]; dataAsked: boolean }> {
  const recipients = recipientCommands(mail);
  const dataAsked = pipelining && recipients.length === 1;
  const data = chunks === undefined ? "DATA" : `BDAT ${chunks.first.length}`;
  connection.write(
    [mailCommand(mail, extensions), ...(pipelining ? recipients : []), ...(dataAsked ? [data] : [])],
    chunks?.first,
  );
  const reply = await connection.readReply("MAIL", timeouts.mailMs);
  if (reply.code === SHUTTING_DOWN)
    return { refusal: { ...refuse("MAIL", reply, "mail", recipients.length), retry: "fresh-connection" } };
  progress.mailAnswered = true;
  if (pipelining) progress.retryIfSilent = "single-commands";
  if (!isAccepted(reply)) return { refusal: refuse("MAIL", reply, "mail", recipients.length) };

  const rejections: Delivery[] = [];
  let primaryRejection: Delivery | undefined;
  for (const [index, command] of recipients.entries()) {
    if (!pipelining) connection.write([command]);
    const phase = index === 0 ? "RCPT" : `RCPT ${mail.paths.to[index]}`;
    const { recipientMs, pipelineMs } = timeouts;
    const verdict = await connection.readReply(
      phase,
      pipelining ? Math.min(recipientMs, pipelineMs) : recipientMs,
    );
    if (isAccepted(verdict)) continue;
    const refusal = inOrder(refuse(phase, verdict, "rcpt", recipients.length), verdict, pipelining);
    if (refusal.session === "gone") return { refusal };
    rejections.push(refusal);
    if (index === 0) primaryRejection = refusal;
  }
  // Temporarily rejected copies delay the message for a few attempts. After that only the primary recipient counts.
  const deferred = rejections.find(({ outcome }) => outcome.kind === "deferred");
  const decisive = (mail.attempt <= ATTEMPTS_FOR_COPIES ? deferred : undefined) ?? primaryRejection;
  if (decisive !== undefined) return { refusal: decisive };
  return { refused: textsOf(rejections), dataAsked };
}

/** Waits for the reply to DATA and sends the message without the final dot. Returns a delivery if the server rejects it. */
async function startData(
  { connection }: SmtpSession,
  mail: SmtpMessage,
  timeouts: SmtpTimeouts,
  { progress, dataAsked, body }: { progress: Progress; dataAsked: boolean; body: Buffer },
): Promise<Delivery | undefined> {
  if (!dataAsked) connection.write(["DATA"]);
  const dataMs = dataAsked ? Math.min(timeouts.dataMs, timeouts.pipelineMs) : timeouts.dataMs;
  const goAhead = await connection.readReply("DATA", dataMs);
  if (goAhead.code !== 354)
    return inOrder(refuse("DATA", goAhead, "message", mail.paths.to.length), goAhead, dataAsked);
  progress.retryIfSilent = undefined;
  for (let start = 0; start < body.length; start += BLOCK_BYTES) {
    const early = connection.takeUnaskedReply();
    if (early !== undefined) return interrupted(early, mail);
    const block = body.subarray(start, start + BLOCK_BYTES);
    await connection.writeBlock(block, "BODY", timeouts.dataBlockMs);
  }
  return undefined;
}

/** Waits for the reply to the first chunk. Returns a delivery if the server rejects it. */
async function startChunks(
  session: SmtpSession,
  mail: SmtpMessage,
  timeouts: SmtpTimeouts,
  progress: Progress,
): Promise<Delivery | undefined> {
  progress.retryIfSilent = "data";
  const { dataMs, pipelineMs } = timeouts;
  const reply = await session.connection.readReply("BDAT", Math.min(dataMs, pipelineMs));
  if (!isAccepted(reply)) return asChunkReply(refuse("BDAT", reply, "message", mail.paths.to.length), reply);
  progress.retryIfSilent = undefined;
  session.acceptsChunks = true;
  return undefined;
}

/** Returns an early rejection. The connection must close mid-message so that the server does not accept half of it. */
function interrupted(reply: SmtpReply, mail: SmtpMessage): Delivery {
  return { ...refuse("BODY", reply, "message", mail.paths.to.length), session: "gone" };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

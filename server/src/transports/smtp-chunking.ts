// Sends messages with BDAT (RFC 3030): no dot-stuffing, and all commands and bytes in one write (docs/decisions/0124-chunking.md).
import { failpoint } from "../platform/failpoints.ts";
import { endLine } from "./smtp-body.ts";
import { mailCommand, recipientCommands, type SmtpMessage } from "./smtp-commands.ts";
import {
  asChunkReply,
  conclude,
  inOrder,
  isAccepted,
  outage,
  ready,
  refuse,
  SHUTTING_DOWN,
  unexpected,
  type Delivery,
  type Progress,
} from "./smtp-outcomes.ts";
import type { RepliedPart } from "./replies/replies.ts";
import type { SmtpReply } from "./smtp-replies.ts";
import type { SmtpSession } from "./smtp-session.ts";
import type { SmtpTimeouts } from "./smtp-timeouts.ts";
import type { MayLeave } from "./transport.ts";

/** The two chunks of a message. */
export interface Chunks {
  /** The first line, which would do nothing if a server read it as a command. */
  first: Buffer;
  rest: Buffer;
}

/** Longer messages use DATA, because they gain little and a rejected recipient would cost the whole transfer. */
const MAX_CHUNKED_BYTES = 256 * 1024;
const LF = 0x0a;

/** Returns the chunks of a message for a session that offers BDAT. Undefined for a message that needs DATA. */
export function chunksOf({ extensions }: SmtpSession, { raw, paths }: SmtpMessage): Chunks | undefined {
  // With several recipients the message must wait until the rejected ones are known.
  if (!extensions.chunking || raw.length > MAX_CHUNKED_BYTES || paths.to.length > 1) return undefined;
  const lineEnd = raw.indexOf(LF) + 1;
  if (lineEnd === 0 || lineEnd === raw.length) return undefined;
  return { first: raw.subarray(0, lineEnd), rest: endLine(raw.subarray(lineEnd)) };
}

/** Returns whether the whole message may be written before any reply: the server has accepted chunks, and was there just now. */
export function maySendAtOnce(
  { acceptsChunks, idleSinceMs }: SmtpSession,
  { atOnceMs }: SmtpTimeouts,
): boolean {
  return acceptsChunks && performance.now() - idleSinceMs < atOnceMs;
}

/** Asks the pre-send check, then sends MAIL, RCPT and the whole message in one write. */
export async function sendAtOnce(
  session: SmtpSession,
  mail: SmtpMessage,
  mayLeave: MayLeave,
  timeouts: SmtpTimeouts,
  progress: Progress,
): Promise<Delivery> {
  const { connection, extensions } = session;
  const message = endLine(mail.raw);
  if (!(await mayLeave())) return ready({ kind: "withdrawn" });
  await failpoint("dot.before");
  if (!connection.isUsable()) {
    const lost = outage("MAIL: the connection was lost before the message");
    return { ...lost, retry: "fresh-connection" };
  }
  progress.mayBeAccepted = true;
  connection.write(
    [mailCommand(mail, extensions), ...recipientCommands(mail), `BDAT ${message.length} LAST`],
    message,
  );
  await failpoint("dot.after");
  const sender = await connection.readReply("MAIL", timeouts.mailMs);
  if (!isAccepted(sender)) {
    const rejection = refuseAll("MAIL", sender, "mail");
    return sender.code === SHUTTING_DOWN ? { ...rejection, retry: "fresh-connection" } : rejection;
  }
  const recipient = await connection.readReply("RCPT", timeouts.recipientMs);
  if (!isAccepted(recipient)) return inOrder(refuseAll("RCPT", recipient, "rcpt"), recipient, true);
  const reply = await connection.readReply("DOT", timeouts.finalDotMs);
  return concludeChunks(reply);
}

/** If the sender or the only recipient is rejected, nothing is delivered, whatever the server replies to BDAT. */
function refuseAll(phase: string, reply: SmtpReply, part: RepliedPart): Delivery {
  return reply.code < 400 ? unexpected(phase, reply) : refuse(phase, reply, part, 1);
}

/** Returns the delivery for the reply to the last chunk. */
export function concludeChunks(reply: SmtpReply): Delivery {
  return asChunkReply(conclude(reply, 1, []), reply);
}

// Reads the rest of a rejected body, because a client that is cut off while sending sees a broken connection instead of the response.
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface DrainBounds {
  bytes: number;
  ms: number;
}

/** Twice the largest allowed body, and the time that a slow line may need for it. */
const BOUNDS: DrainBounds = { bytes: 128 * 1024 * 1024, ms: 30_000 };

/** Discards the rest of a body. Returns whether the body ended within the bounds. */
export async function drainBody(request: IncomingMessage, bounds = BOUNDS): Promise<boolean> {
  if (request.complete || request.readableEnded) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let left = bounds.bytes;
  const onData = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) resolve(false);
  };
  const onEnd = () => resolve(true);
  const onGone = () => resolve(false);
  const timer = setTimeout(onGone, bounds.ms);
  request.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  request.resume();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    request.off("data", onData).off("end", onEnd).off("close", onGone);
  }
}

/**
 * Drains a body before it is rejected as too large, because Fastify would close the connection immediately while the client still sends.
 */
export async function drainBeforeReply(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (await drainBody(request.raw)) reply.removeHeader("connection");
  else reply.header("connection", "close");
}

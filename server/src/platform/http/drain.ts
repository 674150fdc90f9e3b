// Reads on what a client still sends when its body is refused: whoever is cut off in the middle of a body sees a broken connection, and
// never the answer that says why.
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface DrainBounds {
  bytes: number;
  ms: number;
}

/** Twice the largest body that is lawful anywhere, and as long as a slow line may take for it. */
const BOUNDS: DrainBounds = { bytes: 128 * 1024 * 1024, ms: 30_000 };

/** Throws the rest of a body away. Returns whether it came to its end within the bounds. */
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

/** Before a body is refused as too large: Fastify would close the connection at once, in the middle of what is being sent. */
export async function readOn(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (await drainBody(request.raw)) reply.removeHeader("connection");
  else reply.header("connection", "close");
}

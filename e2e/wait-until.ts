// Polls for a condition in another process until a deadline.
import { setTimeout as delay } from "node:timers/promises";

const POLL_EVERY_MS = 25;

/**
 * Returns the first result of `look` that is neither undefined nor false.
 * @param what completes "timed out … waiting for …"
 * @throws Error after the deadline, with the last error of `look`
 */
export async function waitUntil<T>(
  what: string,
  timeoutMs: number,
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadline)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`, { cause: failure });
    await delay(POLL_EVERY_MS);
  }
}

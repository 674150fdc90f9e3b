// Sends emails that anyone may request for an address, rate limited and without revealing whether the address has an account.
import { setTimeout as delay } from "node:timers/promises";
import type { RateLimiter, Take } from "../platform/http/rate-limit.ts";

/** Queuing an email takes much less. */
const EVEN_MS = 250;

/** Runs `work`, which queues an email, if the address is within its limit. Always takes the same time. */
export async function sendRequested(
  rateLimiter: RateLimiter,
  limit: Take,
  work: () => Promise<void>,
): Promise<void> {
  const sending = async () => {
    if ((await rateLimiter.take(limit)).allowed) await work();
    else await rateLimiter.giveBack(limit);
  };
  await Promise.all([sending(), delay(EVEN_MS)]);
}

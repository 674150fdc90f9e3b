// Emails that anyone may request for an address: few, and without telling whether the address has an account.
import { setTimeout as delay } from "node:timers/promises";
import type { RateLimiter, Take } from "../platform/http/rate-limit.ts";

/** An email is queued well within it. */
const EVEN_MS = 250;

/** Runs `work`, which queues an email, if the limit of the address allows it. Takes the same time in any case. */
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

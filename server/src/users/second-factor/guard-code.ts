// Limits guesses at authenticator codes.
import { takeOrThrow, type RateLimiter } from "../../platform/http/rate-limit.ts";
import { codesOf } from "../attempts.ts";

/** An authenticator code. Recovery codes have 60 random bits, so they need no limit. */
export const TOTP_CODE = /^\d{6}$/;

interface Input {
  userId: string;
  code: string | undefined;
  /** Whether the browser has signed in to this account before. */
  isKnownDevice?: boolean;
}

/**
 * Runs the check of a code. Wrong codes count, including those of parallel requests.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function guardCode<T>(
  rateLimiter: RateLimiter,
  { userId, code, isKnownDevice }: Input,
  work: () => Promise<T>,
): Promise<T> {
  if (code === undefined || !TOTP_CODE.test(code)) return work();
  const take = codesOf(userId, isKnownDevice);
  await takeOrThrow(rateLimiter, take);
  const done = await work();
  await rateLimiter.giveBack(take);
  return done;
}

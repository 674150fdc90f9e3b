// Limits guesses at codes of the authenticator app.
import { takeOrRefuse, type RateLimiter } from "../../platform/http/rate-limit.ts";
import { codesOf } from "../attempts.ts";

/** As the app shows it. A recovery code has 60 random bits, so that guesses at it need no limit. */
export const TOTP_CODE = /^\d{6}$/;

interface Given {
  userId: string;
  code: string | undefined;
  /** The browser has signed in to this account before. */
  isKnownDevice?: boolean;
}

/** Runs what judges a code. Wrong codes count, also those of parallel requests. @throws Refusal RATE_LIMIT_EXCEEDED over the limit */
export async function guardCode<T>(
  rateLimiter: RateLimiter,
  { userId, code, isKnownDevice }: Given,
  work: () => Promise<T>,
): Promise<T> {
  if (code === undefined || !TOTP_CODE.test(code)) return work();
  const take = codesOf(userId, isKnownDevice);
  await takeOrRefuse(rateLimiter, take);
  const done = await work();
  await rateLimiter.giveBack(take);
  return done;
}

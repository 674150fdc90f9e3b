// Slows down guesses at a password without locking its owner out (docs/decisions/0109-one-account-per-address.md).
import { setTimeout as delay } from "node:timers/promises";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { AppError } from "../platform/app-error.ts";
import { guessesAt } from "./attempts.ts";

const DELAY_STEP_MS = 250;

export interface Guess {
  /** Identifies the account by its address or id. */
  account: string;
  /** As `networkOf` names it. */
  network: string;
  /** Whether the browser has signed in to this account before. */
  isKnownDevice: boolean;
}

/**
 * Runs a password check and returns its result; undefined means a wrong password. Within the account's budget checks run without delay.
 * Over the budget each wrong password delays its response longer, and a network has one check at a time, so that parallel requests gain
 * nothing. The right password never waits.
 *
 * @throws AppError RATE_LIMIT_EXCEEDED while another check of this network waits
 */
export type CheckGuess = <T>(guess: Guess, check: () => Promise<T | undefined>) => Promise<T | undefined>;

export function createGuessing(rateLimiter: RateLimiter): CheckGuess {
  const waiting = new Set<string>();
  return async ({ account, network, isKnownDevice }, check) => {
    const take = guessesAt(account, isKnownDevice);
    // Counted before the check, so that parallel guesses count too. The right password is refunded.
    const over = (await rateLimiter.take(take)).used - take.limit;
    if (over <= 0) return rightOrCounted(await check());
    const place = `${take.bucket} ${network}`;
    if (waiting.has(place))
      throw new AppError("RATE_LIMIT_EXCEEDED", {
        message: "Too many wrong passwords. Wait for the response to the last one.",
        retryAfterSeconds: LIMITS.guessDelaySeconds.value,
      });
    waiting.add(place);
    try {
      const found = await rightOrCounted(await check());
      if (found === undefined)
        await delay(Math.min(over * DELAY_STEP_MS, LIMITS.guessDelaySeconds.value * 1_000));
      return found;
    } finally {
      waiting.delete(place);
    }

    async function rightOrCounted<T>(found: T | undefined): Promise<T | undefined> {
      if (found !== undefined) await rateLimiter.giveBack(take);
      return found;
    }
  };
}

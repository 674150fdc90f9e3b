// The password once more, of somebody who is logged in: before what a stolen session must not do.
// Before it: account-routes.ts, second-factor/routes.ts. After it: passwords.ts.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Database } from "../platform/database.ts";
import { takeOrRefuse, type RateLimiter, type Take } from "../platform/rate-limit.ts";
import { Refusal } from "../platform/refusal.ts";
import { readAccount, type Account } from "./account.ts";
import type { Passwords } from "./passwords.ts";

const GUESSES_SECONDS = 600;

/** @param network as `networkOf` names it. @throws Refusal INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED */
export type RequirePassword = (userId: string, given: string, network: string) => Promise<Account>;

const guessesOf = (userId: string): Take => ({
  bucket: `password:${userId}`,
  limit: LIMITS.loginFailures.value,
  windowSeconds: GUESSES_SECONDS,
});

export function createRequirePassword(parts: {
  database: Database;
  passwords: Passwords;
  rateLimiter: RateLimiter;
}): RequirePassword {
  const { database, passwords, rateLimiter } = parts;
  return async (userId, given, network) => {
    const account = await readAccount(database, userId);
    if (account.passwordHash === null)
      throw new Refusal("INVALID_CREDENTIALS", {
        message: "Your account has no password. Set one first: “Forgot your password?” mails a link.",
      });
    await takeOrRefuse(rateLimiter, guessesOf(userId));
    if (!(await passwords.matches(network, account.passwordHash, given)))
      throw new Refusal("INVALID_CREDENTIALS", { message: "The current password is wrong." });
    await rateLimiter.giveBack(guessesOf(userId));
    return account;
  };
}

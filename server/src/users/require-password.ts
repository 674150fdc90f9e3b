// Asks for the password again before changes that a stolen session must not make.
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { readAccount, type Account } from "./account.ts";
import type { CheckGuess } from "./guesses.ts";
import type { Passwords } from "./passwords.ts";

/**
 * Checks the password again and returns the account.
 * @param network as `networkOf` names it
 * @throws AppError INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED
 */
export type RequirePassword = (userId: string, input: string, network: string) => Promise<Account>;

export function createRequirePassword(parts: {
  database: Database;
  passwords: Passwords;
  checkGuess: CheckGuess;
}): RequirePassword {
  const { database, passwords, checkGuess } = parts;
  return async (userId, input, network) => {
    const account = await readAccount(database, userId);
    if (account.passwordHash === null)
      throw new AppError("INVALID_CREDENTIALS", {
        message: "Your account has no password. Set one first with “Forgot your password?”.",
      });
    // A session does not count as a known device, because it may be stolen.
    const guess = { account: account.email, network, isKnownDevice: false };
    const right = await checkGuess(guess, async () =>
      (await passwords.matches(network, account.passwordHash, input)) ? account : undefined,
    );
    if (right === undefined)
      throw new AppError("INVALID_CREDENTIALS", { message: "The current password is wrong." });
    return right;
  };
}

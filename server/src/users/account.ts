// Requests about accounts: signing up, confirming an address, resetting a password, changing both, ending sessions.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { randomText, sha256 } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import type { MailLanguage } from "../emails/platform-email/mail-language.ts";
import { enqueuePlatformEmails } from "../emails/platform-email/platform-email.ts";
import { PageError } from "./page-error.ts";
import { accountMail } from "./account-mails.ts";
import {
  deleteOldChallenges,
  deleteOldTokens,
  deleteSessions,
  findAccount,
  findTokenAddress,
  markVerified,
  replaceSignUpToken,
  replaceToken,
  takeSignUpToken,
  takeToken,
  updateAddress,
  type TokenPurpose,
} from "./account-queries.ts";
import type { Place } from "./place.ts";
import { deleteUser, listSessionRows } from "./queries.ts";
import {
  findProvenUser,
  findUserByAddress,
  replacePassword,
  notifiedOf,
  tryToCreateUser,
  type User,
} from "./users.ts";

const TOKEN_LENGTH = 43;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

const LINK_SECONDS = LIMITS.verificationHours.value * 3600;
const SECONDS: Record<TokenPurpose, number> = {
  VERIFY: LINK_SECONDS,
  RESET: LIMITS.passwordResetMinutes.value * 60,
};

export interface Account extends User {
  /** Null if it signs in only through another service. */
  passwordHash: string | null;
  isVerified: boolean;
}

/** @throws AppError UNAUTHORIZED if the account was deleted in between */
export async function readAccount(database: Database, userId: string): Promise<Account> {
  const row = await findAccount(database, userId);
  if (row === undefined) throw new AppError("UNAUTHORIZED");
  return {
    id: row.id,
    email: row.email,
    passwordHash: row.passwordHash,
    isVerified: row.verifiedAt !== null,
  };
}

/**
 * Sends a sign-up link or, if the address has an account, a sign-in link to its owner. Both store a token, so that they take the same time.
 */
export async function requestSignUp(
  tx: Tx,
  { email, language, place }: { email: string; language: MailLanguage; place: Place },
  baseUrl: string,
): Promise<void> {
  const token = randomText(TOKEN_LENGTH);
  await replaceSignUpToken(tx, { hash: sha256(token), email, seconds: LINK_SECONDS });
  const owner = await findUserByAddress(tx, email);
  const reported = owner === undefined ? { email, language } : await notifiedOf(tx, owner);
  const mail =
    owner === undefined
      ? accountMail(
          reported,
          (texts, { number }) =>
            texts.signUp({ email, place, hours: number(LIMITS.verificationHours.value) }),
          `${baseUrl}/account/sign-up/${token}`,
        )
      : accountMail(
          reported,
          (texts) => texts.knownAddress({ email, place, resetUrl: `${baseUrl}/app/forgotten-password` }),
          `${baseUrl}/app/sign-in`,
        );
  await enqueuePlatformEmails(tx, [mail]);
}

/**
 * Returns the address of a sign-up link.
 * @throws AppError TOKEN_INVALID
 */
export const readSignUpAddress = (database: Database, token: string) =>
  readTokenAddress(database, token, "SIGN_UP");

/**
 * Creates the account of a sign-up link, with a confirmed address.
 * @throws AppError TOKEN_INVALID, CONFLICT
 */
export async function completeSignUp(
  tx: Tx,
  { token, passwordHash, language }: { token: string; passwordHash: string; language: MailLanguage },
): Promise<User> {
  const email = TOKEN.test(token) ? await takeSignUpToken(tx, sha256(token)) : undefined;
  if (email === undefined) throw new AppError("TOKEN_INVALID");
  const user = await tryToCreateUser(tx, { email, passwordHash, language, isVerified: true });
  if (user === undefined) throw addressTaken();
  return user;
}

const addressTaken = () => new PageError("CONFLICT", (problems) => problems.addressTaken);

/** Stores a token and returns it. Previous tokens of the same purpose become invalid. */
async function issueToken(tx: Tx, userId: string, purpose: TokenPurpose, email: string): Promise<string> {
  const token = randomText(TOKEN_LENGTH);
  await replaceToken(tx, { hash: sha256(token), userId, purpose, email, seconds: SECONDS[purpose] });
  return token;
}

/** An account's request to confirm its address or a new one. */
interface Verification {
  user: User;
  place: Place;
  reason: "NEW" | "AGAIN" | { newEmail: string };
}

/** Sends the link that confirms an address. The email says who requested it, from where and why. */
export async function sendVerification(
  tx: Tx,
  { user, place, reason }: Verification,
  baseUrl: string,
): Promise<void> {
  const { email } = user;
  const to = typeof reason === "string" ? email : reason.newEmail;
  const token = await issueToken(tx, user.id, "VERIFY", to);
  const reported = { ...(await notifiedOf(tx, user)), email: to };
  const mail = accountMail(
    reported,
    (texts, { number }) => {
      const facts = { email, place, hours: number(LIMITS.verificationHours.value) };
      if (reason === "NEW") return texts.verifyNew(facts);
      return reason === "AGAIN" ? texts.verifyAgain(facts) : texts.verifyChange({ ...facts, ...reason });
    },
    `${baseUrl}/account/verify-email/${token}`,
  );
  await enqueuePlatformEmails(tx, [mail]);
}

async function take(tx: Tx, token: string, purpose: TokenPurpose) {
  const row = TOKEN.test(token) ? await takeToken(tx, sha256(token), purpose) : undefined;
  if (row === undefined) throw new AppError("TOKEN_INVALID");
  return row;
}

/**
 * Confirms the address a token was sent to and makes it the account's address.
 * @throws AppError TOKEN_INVALID, CONFLICT
 */
export async function verifyEmail(tx: Tx, token: string): Promise<User> {
  const { userId: id, email } = await take(tx, token, "VERIFY");
  if (!(await updateAddress(tx, id, email))) throw addressTaken();
  return { id, email };
}

/**
 * Sends the link that sets a new password. An account with an unconfirmed address gets none, because the owner of the address would inherit
 * the projects, keys and members of its creator.
 */
export async function requestPasswordReset(
  tx: Tx,
  { email, place }: { email: string; place: Place },
  baseUrl: string,
): Promise<void> {
  const user = await findUserByAddress(tx, email);
  if (user === undefined) return;
  const reported = await notifiedOf(tx, user);
  const mail = user.isVerified
    ? accountMail(
        reported,
        (texts, { number }) =>
          texts.passwordReset({ email, place, minutes: number(LIMITS.passwordResetMinutes.value) }),
        `${baseUrl}/account/reset-password/${await issueToken(tx, user.id, "RESET", email)}`,
      )
    : accountMail(reported, (texts) => texts.unconfirmedReset({ email, place }));
  await enqueuePlatformEmails(tx, [mail]);
}

/**
 * Returns the address of a reset link.
 * @throws AppError TOKEN_INVALID
 */
export const readResetAddress = (database: Database, token: string) =>
  readTokenAddress(database, token, "RESET");

async function readTokenAddress(database: Database, token: string, purpose: TokenPurpose | "SIGN_UP") {
  const email = TOKEN.test(token) ? await findTokenAddress(database, sha256(token), purpose) : undefined;
  if (email === undefined) throw new AppError("TOKEN_INVALID");
  return email;
}

/** Confirms the address of an account after its owner used a link that was sent there. */
export async function proveAddress(tx: Tx, { id, email }: User): Promise<void> {
  await markVerified(tx, id, email);
}

/**
 * Sets a new password with the token of an email and ends all sessions.
 * @throws AppError TOKEN_INVALID
 */
export async function resetPassword(
  tx: Tx,
  { token, passwordHash }: { token: string; passwordHash: string },
): Promise<User> {
  const { userId: id, email } = await take(tx, token, "RESET");
  if ((await findProvenUser(tx, email))?.id !== id) throw new AppError("TOKEN_INVALID");
  await storePassword(tx, { id, email }, passwordHash, null);
  return { id, email };
}

/** Replaces a password and notifies the owner. Ends all sessions except `sessionId`. */
export async function storePassword(
  tx: Tx,
  user: User,
  passwordHash: string,
  sessionId: string | null,
): Promise<void> {
  await replacePassword(tx, user, passwordHash, sessionId);
  await enqueuePlatformEmails(tx, [
    accountMail(await notifiedOf(tx, user), (texts) => texts.passwordChanged(user)),
  ]);
}

/** Sends the emails about a change of address: to the new one, unless it has an account, and to the old one. */
export async function requestAddressChange(
  tx: Tx,
  { user, place, newEmail }: { user: User; place: Place; newEmail: string },
  baseUrl: string,
): Promise<void> {
  if ((await findUserByAddress(tx, newEmail)) === undefined)
    await sendVerification(tx, { user, place, reason: { newEmail } }, baseUrl);
  const reported = await notifiedOf(tx, user);
  await enqueuePlatformEmails(tx, [
    accountMail(reported, (texts) => texts.addressChange({ email: user.email, place, newEmail })),
  ]);
}

export async function listSessions(database: Database, userId: string, sessionId: string) {
  const rows = await listSessionRows(database, userId);
  return rows.map((row) => ({
    id: row.id,
    isCurrent: row.id === sessionId,
    ip: row.address,
    userAgent: row.userAgent,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt.toISOString(),
  }));
}

/**
 * Ends a session of the user.
 * @throws AppError SESSION_NOT_FOUND, also for a session of another user
 */
export async function endSession(tx: Tx, userId: string, id: string): Promise<void> {
  if (!isId(id) || (await deleteSessions(tx, userId, { id })) === 0) throw new AppError("SESSION_NOT_FOUND");
}

export async function endOtherSessions(tx: Tx, userId: string, sessionId: string): Promise<number> {
  return deleteSessions(tx, userId, { allBut: sessionId });
}

/** Deletes an account that has left its projects and notifies its address. */
export async function removeUser(tx: Tx, user: User, place: Place): Promise<void> {
  const reported = await notifiedOf(tx, user);
  await enqueuePlatformEmails(tx, [
    accountMail(reported, (texts) => texts.accountDeleted({ email: user.email, place })),
  ]);
  await deleteUser(tx, user.id);
}

export async function sweepTokens(database: Database): Promise<void> {
  await deleteOldTokens(database);
  await deleteOldChallenges(database);
}

// What people do with their accounts: prove an address, set a forgotten password, change both, end sessions.
// Before it: account-routes.ts. After it: account-queries.ts; mails go into the outbox of the installation, in the same transaction.
import { LIMITS } from "@postloft/contract/limits.ts";
import { randomText, sha256 } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database.ts";
import { isId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { PageRefusal } from "./page-refusal.ts";
import { enqueueSystemMails } from "../emails/system-mail/system-mail.ts";
import {
  addressChangeMail,
  knownAddressMail,
  passwordChangedMail,
  passwordResetMail,
  verificationMail,
} from "./account-mails.ts";
import {
  deleteOldTokens,
  deleteOtherWays,
  deleteSessions,
  findAccount,
  findTokenAddress,
  listSessionRows,
  markVerified,
  replaceToken,
  takeToken,
  updateAddress,
  type TokenPurpose,
} from "./account-queries.ts";
import { deleteOldChallenges } from "./passkeys/queries.ts";
import { findProvenUser, findUserByAddress, replacePassword, toldOf, type User } from "./users.ts";

const TOKEN_LENGTH = 43;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

const SECONDS: Record<TokenPurpose, number> = {
  VERIFY: LIMITS.verificationHours.value * 3600,
  RESET: LIMITS.passwordResetMinutes.value * 60,
};

export interface Account extends User {
  /** Null: it logs in through another service alone. */
  passwordHash: string | null;
  isVerified: boolean;
}

/** @throws Refusal UNAUTHORIZED when it was deleted meanwhile */
export async function readAccount(database: Database, userId: string): Promise<Account> {
  const row = await findAccount(database, userId);
  if (row === undefined) throw new Refusal("UNAUTHORIZED");
  return {
    id: row.id,
    email: row.email,
    passwordHash: row.passwordHash,
    isVerified: row.verifiedAt !== null,
  };
}

/** Makes a token and returns it; the ones before it hold no more. What is stored opens nothing. */
async function issueToken(tx: Tx, userId: string, purpose: TokenPurpose, email: string): Promise<string> {
  const token = randomText(TOKEN_LENGTH);
  await replaceToken(tx, { hash: sha256(token), userId, purpose, email, seconds: SECONDS[purpose] });
  return token;
}

const verificationLink = (baseUrl: string, token: string) => `${baseUrl}/account/verify-email/${token}`;

/** Queues the mail that proves the address of an account; nothing for one that is proved. */
export async function requestVerification(tx: Tx, user: Account, baseUrl: string): Promise<void> {
  if (user.isVerified) return;
  await sendVerification(tx, user, baseUrl);
}

/**
 * The same for an account that was just made. Where another account has proved the address, whoever reads its mail is told that they have that
 * one. The token, which can prove nothing then, is made all the same: whoever asked must not know by the time it takes.
 */
export async function sendVerification(tx: Tx, user: User, baseUrl: string): Promise<void> {
  const token = await issueToken(tx, user.id, "VERIFY", user.email);
  const owner = await findProvenUser(tx, user.email);
  const told = await toldOf(tx, owner ?? user);
  const mail =
    owner === undefined
      ? verificationMail(told, verificationLink(baseUrl, token))
      : knownAddressMail(told, `${baseUrl}/app/sign-in`);
  await enqueueSystemMails(tx, [mail]);
}

async function take(tx: Tx, token: string, purpose: TokenPurpose) {
  const row = TOKEN.test(token) ? await takeToken(tx, sha256(token), purpose) : undefined;
  if (row === undefined) throw new Refusal("TOKEN_INVALID");
  return row;
}

/** Proves the address a token was mailed to, which is the account's from then on. @throws Refusal TOKEN_INVALID, CONFLICT */
export async function verifyEmail(tx: Tx, token: string): Promise<User> {
  const { userId: id, email } = await take(tx, token, "VERIFY");
  if (!(await updateAddress(tx, id, email)))
    throw new PageRefusal("CONFLICT", ({ addressTaken }) => addressTaken);
  return { id, email };
}

/** Queues the mail with which a new password is set, where the address has an account. */
export async function requestPasswordReset(tx: Tx, email: string, baseUrl: string): Promise<void> {
  const user = await findUserByAddress(tx, email);
  if (user === undefined) return;
  const token = await issueToken(tx, user.id, "RESET", user.email);
  await enqueueSystemMails(tx, [
    passwordResetMail(await toldOf(tx, user), `${baseUrl}/account/reset-password/${token}`),
  ]);
}

/** The account for which a token sets a new password. @throws Refusal TOKEN_INVALID */
export async function readResetAddress(database: Database, token: string): Promise<string> {
  const email = TOKEN.test(token) ? await findTokenAddress(database, sha256(token), "RESET") : undefined;
  if (email === undefined) throw new Refusal("TOKEN_INVALID");
  return email;
}

/** Proves the address of an account: whoever uses it has what was mailed there. */
export async function proveAddress(tx: Tx, { id, email }: User): Promise<void> {
  await markVerified(tx, id, email);
}

/**
 * Sets a new password with the token of a mail. All sessions end, and the address is proved with it. Where it was not before, whoever made the
 * account may have been somebody else: nothing of theirs opens it any longer (docs/decisions/0095).
 * @throws Refusal TOKEN_INVALID
 */
export async function resetPassword(
  tx: Tx,
  { token, passwordHash }: { token: string; passwordHash: string },
): Promise<void> {
  const { userId: id, email } = await take(tx, token, "RESET");
  const { isVerified } = await readAccount(tx, id);
  if (!(await markVerified(tx, id, email))) throw new Refusal("TOKEN_INVALID");
  if (!isVerified) await deleteOtherWays(tx, id);
  await storePassword(tx, { id, email }, passwordHash, null);
}

/** Changes the password of whoever knows the old one; all sessions but `sessionId` end. */
export async function storePassword(
  tx: Tx,
  user: User,
  passwordHash: string,
  sessionId: string | null,
): Promise<void> {
  await replacePassword(tx, user, passwordHash, sessionId);
  await enqueueSystemMails(tx, [passwordChangedMail(await toldOf(tx, user))]);
}

/** Queues the mails about another address: to the new one, unless an account has proved that, and to the old one. */
export async function requestAddressChange(
  tx: Tx,
  user: User,
  newEmail: string,
  baseUrl: string,
): Promise<void> {
  const told = await toldOf(tx, user);
  if ((await findProvenUser(tx, newEmail)) === undefined) {
    const token = await issueToken(tx, user.id, "VERIFY", newEmail);
    await enqueueSystemMails(tx, [
      verificationMail({ ...told, email: newEmail }, verificationLink(baseUrl, token)),
    ]);
  }
  await enqueueSystemMails(tx, [addressChangeMail(told, newEmail)]);
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

/** @throws Refusal SESSION_NOT_FOUND, the same for one of somebody else. */
export async function endSession(tx: Tx, userId: string, id: string): Promise<void> {
  if (!isId(id) || (await deleteSessions(tx, userId, { id })) === 0) throw new Refusal("SESSION_NOT_FOUND");
}

export async function endOtherSessions(tx: Tx, userId: string, sessionId: string): Promise<number> {
  return deleteSessions(tx, userId, { allBut: sessionId });
}

export async function sweepTokens(database: Database): Promise<void> {
  await deleteOldTokens(database);
  await deleteOldChallenges(database);
}

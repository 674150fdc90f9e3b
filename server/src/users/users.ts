// Accounts: creating, finding, deleting. One address has one account (docs/decisions/0109-one-account-per-address.md).
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { mailLanguageOf, type MailLanguage } from "../emails/platform-email/mail-language.ts";
import type { Reported } from "./account-mails.ts";
import { deletePending, deleteSessions, markVerified, updatePassword } from "./account-queries.ts";
import {
  countUsers,
  deleteUser,
  findOldestUser,
  findUserByEmail,
  findUserById,
  findUserLanguage,
  insertUser,
  updateUserLanguage,
} from "./queries.ts";

export interface User {
  id: string;
  email: string;
}

export interface NewUser {
  email: string;
  /** Null if it signs in through another service. */
  passwordHash: string | null;
  /** True if an instance admin creates it, or an email to the address was received. */
  isVerified?: boolean;
  language?: MailLanguage;
}

/** Creates an account, or returns undefined if the address has one. */
export async function tryToCreateUser(tx: Tx, user: NewUser): Promise<User | undefined> {
  const { email, passwordHash, isVerified = false, language = "en" } = user;
  const id = newId();
  const isFree = await insertUser(tx, {
    id,
    email,
    passwordHash,
    verifiedAt: isVerified ? now() : null,
    language,
  });
  return isFree ? { id, email } : undefined;
}

/**
 * Creates an account.
 * @throws AppError CONFLICT if the address has one
 */
export async function createUser(tx: Tx, user: NewUser): Promise<User> {
  const created = await tryToCreateUser(tx, user);
  if (created === undefined)
    throw new AppError("CONFLICT", {
      message: "This email address already has an account. Sign in instead.",
    });
  return created;
}

/** Returns the account with an id, if it exists. */
export async function findUserOfId(database: Database, id: string): Promise<User | undefined> {
  return findUserById(database, id);
}

export async function getUser(database: Database, id: string): Promise<User> {
  const row = await findUserById(database, id);
  if (row === undefined) throw new AppError("UNAUTHORIZED");
  return row;
}

/**
 * Returns the address of an account.
 * @throws AppError UNAUTHORIZED if the account does not exist
 */
export async function addressOfUser(database: Database, id: string): Promise<string> {
  return (await getUser(database, id)).email;
}

/** Returns the address and language for emails to an account. */
export async function notifiedOf(database: Database, { id, email }: User): Promise<Reported> {
  return { email, language: mailLanguageOf(await findUserLanguage(database, id)) };
}

/** Returns the same for an address in canonical form. English if the address has no account. */
export async function notifiedAt(database: Database, email: string): Promise<Reported> {
  const user = await findUserByAddress(database, email);
  return user === undefined ? { email, language: mailLanguageOf(null) } : notifiedOf(database, user);
}

/** Stores the language of emails about an account. */
export async function chooseLanguage(tx: Tx, userId: string, language: MailLanguage) {
  await updateUserLanguage(tx, userId, language);
  return { ...(await getUser(tx, userId)), language };
}

/** Returns the account of an address in canonical form, if there is one. */
export async function findUserByAddress(
  database: Database,
  email: string,
): Promise<(User & { isVerified: boolean }) | undefined> {
  const row = await findUserByEmail(database, email);
  return row && { id: row.id, email: row.email, isVerified: row.verifiedAt !== null };
}

/** Returns the account only if its address is confirmed, because the creator of any other account is unknown. */
export async function findProvenUser(database: Database, email: string): Promise<User | undefined> {
  const user = await findUserByAddress(database, email);
  return user?.isVerified === true ? { id: user.id, email: user.email } : undefined;
}

/** Marks the address of an account as confirmed. */
export async function proveUser(tx: Tx, { id, email }: User): Promise<void> {
  await markVerified(tx, id, email);
}

/** Returns the oldest account, if there is one. */
export async function findFirstUser(database: Database): Promise<User | undefined> {
  return findOldestUser(database);
}

/** Deletes an account for the instance admin, without notifying its owner. Returns false if it does not exist. */
export async function dropUser(tx: Tx, id: string): Promise<boolean> {
  return deleteUser(tx, id);
}

export async function hasUsers(database: Database): Promise<boolean> {
  return (await countUsers(database)) > 0;
}

/**
 * Replaces a password. Ends all sessions except `sessionId` and deletes the links that were requested with the previous password. Returns
 * how many sessions ended.
 */
export async function replacePassword(
  tx: Tx,
  user: User,
  passwordHash: string,
  sessionId: string | null = null,
): Promise<number> {
  await updatePassword(tx, user.id, passwordHash);
  await deletePending(tx, user.id);
  return deleteSessions(tx, user.id, { allBut: sessionId });
}

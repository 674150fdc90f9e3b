// People who log in: accounts.
// Before it: routes.ts, instance/bootstrap.ts. After it: sessions.ts.
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { deletePending, deleteSessions, updatePassword } from "./account-queries.ts";
import type { Passwords } from "./passwords.ts";
import {
  countUsers,
  findOldestUser,
  findUserByEmail,
  findUserById,
  insertUser,
  listUserRows,
} from "./queries.ts";

export interface User {
  id: string;
  email: string;
}

/** `passwordHash` null: it logs in through another service. `isVerified`: the operator makes it, or whoever came by a link that was mailed to the address. @throws Refusal CONFLICT when that has an account. */
export async function createUser(
  tx: Tx,
  user: { email: string; passwordHash: string | null; isVerified?: boolean },
): Promise<User> {
  const id = newId();
  const verifiedAt = user.isVerified === true ? now() : null;
  const row = { id, email: user.email, password_hash: user.passwordHash, verified_at: verifiedAt };
  const isNew = await insertUser(tx, row);
  if (!isNew)
    throw new Refusal("CONFLICT", { message: "This e-mail address has an account already. Log in instead." });
  return { id, email: user.email };
}

/** The account of these credentials, or null; takes the same time whichever of the two is wrong. `address`: who asks. */
export async function findUserByCredentials(
  { database, passwords }: { database: Database; passwords: Passwords },
  { email, password }: { email: string; password: string },
  address: string,
): Promise<(User & { passwordHash: string }) | null> {
  const row = await findUserByEmail(database, email);
  const passwordHash = row?.password_hash ?? null;
  const matches = await passwords.matches(address, passwordHash, password);
  return row !== undefined && passwordHash !== null && matches
    ? { id: row.id, email: row.email, passwordHash }
    : null;
}

export async function getUser(database: Database, id: string): Promise<User> {
  const row = await findUserById(database, id);
  if (row === undefined) throw new Refusal("UNAUTHORIZED");
  return row;
}

/** The account of an address in canonical form, if there is one. */
export async function findUserByAddress(database: Database, email: string): Promise<User | undefined> {
  const row = await findUserByEmail(database, email);
  return row === undefined ? undefined : { id: row.id, email: row.email };
}

/** Whoever had an account first, if anybody has. */
export async function findFirstUser(database: Database): Promise<User | undefined> {
  return findOldestUser(database);
}

export async function hasUsers(database: Database): Promise<boolean> {
  return (await countUsers(database)) > 0;
}

/**
 * Replaces a password. All sessions of the account but `sessionId` end, and so do links that were asked for with the old one.
 * Returns how many sessions ended.
 */
export async function replacePassword(
  tx: Tx,
  userId: string,
  passwordHash: string,
  sessionId: string | null = null,
): Promise<number> {
  await updatePassword(tx, userId, passwordHash);
  await deletePending(tx, userId);
  return deleteSessions(tx, userId, { allBut: sessionId });
}

export interface ListedUser extends User {
  createdAt: string;
  /** How many projects the account is a member of. */
  projects: number;
}

/** People in the order of their accounts, from the one after `after` on; for whoever runs the installation. */
export async function listUsers(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<ListedUser[]> {
  const rows = await listUserRows(database, after, limit);
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    createdAt: row.created_at.toISOString(),
    projects: row.projects ?? 0,
  }));
}

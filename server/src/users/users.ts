// People who log in: accounts.
// Before it: routes.ts, instance/bootstrap.ts. After it: sessions.ts.
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { mailLanguageOf, type MailLanguage } from "../emails/system-mail/mail-language.ts";
import type { Told } from "./account-mails.ts";
import { deletePending, deleteSessions, updatePassword } from "./account-queries.ts";
import type { Passwords } from "./passwords.ts";
import {
  countUsers,
  findOldestUser,
  findUserByEmail,
  findUserByHash,
  findUserById,
  findUserLanguage,
  hasOldSaltedHashes,
  insertUser,
  listPasswordRows,
  lockAddress,
  renewHash,
  updateUserLanguage,
} from "./queries.ts";

export interface User {
  id: string;
  email: string;
}

/**
 * Makes an account. `passwordHash` null: it logs in through another service. `isVerified`: the operator makes it, or whoever came by a link that
 * was mailed to the address: one that has an account, proved or not, gets no other. @throws Refusal CONFLICT
 */
export async function createUser(
  tx: Tx,
  user: { email: string; passwordHash: string | null; isVerified?: boolean; language?: MailLanguage },
): Promise<User> {
  const id = newId();
  if (user.isVerified === true) {
    await lockAddress(tx, user.email);
    if ((await findUserByEmail(tx, user.email)) !== undefined)
      throw new Refusal("CONFLICT", {
        message: "This e-mail address has an account already. Log in instead.",
      });
  }
  const verifiedAt = user.isVerified === true ? now() : null;
  const row = {
    id,
    email: user.email,
    passwordHash: user.passwordHash,
    verifiedAt,
    language: user.language ?? "en",
  };
  await insertUser(tx, row);
  return { id, email: user.email };
}

/**
 * The account of somebody who signs up. Whether the address has accounts nobody is told: it gets one more, unless this is the password of one
 * (docs/decisions/0098).
 */
export async function signUpAs(
  tx: Tx,
  person: { email: string; passwordHash: string; language: MailLanguage },
): Promise<User & { isNew: boolean }> {
  await lockAddress(tx, person.email);
  const known = await findUserByHash(tx, person.email, person.passwordHash);
  return known === undefined
    ? { ...(await createUser(tx, person)), isNew: true }
    : { ...known, isNew: false };
}

/** The account of these credentials, or null; takes the same time whichever of the two is wrong. `address`: who asks. */
export async function findUserByCredentials(
  { database, passwords }: { database: Database; passwords: Pick<Passwords, "find"> },
  { email, password }: { email: string; password: string },
  address: string,
): Promise<(User & { passwordHash: string }) | null> {
  const [rows, hasOldSalts] = await Promise.all([
    listPasswordRows(database, email),
    hasOldSaltedHashes(database),
  ]);
  const hashes = rows.map(({ passwordHash }) => passwordHash);
  const { index, hash } = await passwords.find(address, { email, password }, { hashes, hasOldSalts });
  const row = rows[index];
  if (row === undefined) return null;
  if (row.hasOldSalt || row.passwordHash !== hash) await renewHash(database, row, hash);
  return { id: row.id, email: row.email, passwordHash: hash };
}

export async function getUser(database: Database, id: string): Promise<User> {
  const row = await findUserById(database, id);
  if (row === undefined) throw new Refusal("UNAUTHORIZED");
  return row;
}

/** Where somebody is told something, and in which language. */
export async function toldOf(database: Database, { id, email }: User): Promise<Told> {
  return { email, language: mailLanguageOf(await findUserLanguage(database, id)) };
}

/** The same for an address in canonical form, which may have no account: then in English. */
export async function toldAt(database: Database, email: string): Promise<Told> {
  const user = await findUserByAddress(database, email);
  return user === undefined ? { email, language: mailLanguageOf(null) } : toldOf(database, user);
}

/** Chooses the language of mail about an account. */
export async function chooseLanguage(tx: Tx, userId: string, language: MailLanguage) {
  await updateUserLanguage(tx, userId, language);
  return { ...(await getUser(tx, userId)), language };
}

/** The account of an address in canonical form, if there is one: of several the one that proved it, else the oldest. */
export async function findUserByAddress(database: Database, email: string): Promise<User | undefined> {
  const row = await findUserByEmail(database, email);
  return row === undefined ? undefined : { id: row.id, email: row.email };
}

/**
 * The same where the address is proved to be theirs; of any other account nobody knows whose it is (docs/decisions/0095).
 */
export async function findProvenUser(database: Database, email: string): Promise<User | undefined> {
  const row = await findUserByEmail(database, email);
  return row === undefined || row.verifiedAt === null ? undefined : { id: row.id, email: row.email };
}

/** Whoever had an account first, if anybody has. */
export async function findFirstUser(database: Database): Promise<User | undefined> {
  return findOldestUser(database);
}

export async function hasUsers(database: Database): Promise<boolean> {
  return (await countUsers(database)) > 0;
}

/**
 * Replaces a password, hashed for the address the user is given with. All sessions of the account but `sessionId` end, and so do links that were
 * asked for with the old one. Returns how many sessions ended.
 */
export async function replacePassword(
  tx: Tx,
  user: User,
  passwordHash: string,
  sessionId: string | null = null,
): Promise<number> {
  await updatePassword(tx, user, passwordHash);
  await deletePending(tx, user.id);
  return deleteSessions(tx, user.id, { allBut: sessionId });
}

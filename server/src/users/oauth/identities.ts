// Connects accounts with identities of other services (docs/decisions/0059-sign-in-with-oauth.md).
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import { PageError } from "../page-error.ts";
import type { MailLanguage } from "../../emails/platform-email/mail-language.ts";
import { enqueuePlatformEmails } from "../../emails/platform-email/platform-email.ts";
import { accountMail } from "../account-mails.ts";
import { readAccount } from "../account.ts";
import { lockUserOfSession, type OwnSession } from "../recent-session.ts";
import { findUserByAddress, notifiedOf, tryToCreateUser, type User } from "../users.ts";
import { hasWayIn, lockUser } from "../account-queries.ts";
import { deleteIdentity, findIdentityUser, insertIdentity, listIdentityRows } from "./queries.ts";
import type { Person, Provider } from "./providers.ts";

/** Returns the account connected with a person, or the account of their address. Undefined if there is neither. */
export async function findUserOf(database: Database, person: Person): Promise<User | undefined> {
  return (await findIdentityUser(database, person)) ?? findUserByAddress(database, person.email);
}

interface Arriving {
  person: Person;
  title: string;
  /** Whether a new account may be created. While sign-ups are off only invited people may. */
  mayBeNew: (tx: Tx, email: string) => Promise<boolean>;
  /** The language of a new account. */
  language: MailLanguage;
}

/**
 * Returns the account a person signs in to: the connected one, else the one of their address, else a new one. Rejects an account whose
 * address was never confirmed, because its creator is unknown.
 *
 * @throws AppError CONFLICT, SIGNUPS_DISABLED
 */
export async function enterAs(tx: Tx, { person, title, mayBeNew, language }: Arriving): Promise<User> {
  const known = await findIdentityUser(tx, person);
  if (known !== undefined) {
    await lockUser(tx, known.id);
    // Read again under the lock, because it may have been disconnected in between.
    if ((await findIdentityUser(tx, person))?.id === known.id) return known;
  }
  const owner = await findUserByAddress(tx, person.email);
  if (owner === undefined) {
    if (!(await mayBeNew(tx, person.email))) throw new AppError("SIGNUPS_DISABLED");
    const { email } = person;
    const created = await tryToCreateUser(tx, { email, passwordHash: null, isVerified: true, language });
    // Another device or a sign-up link created the account first, so the next try finds it.
    if (created === undefined) return enterAs(tx, { person, title, mayBeNew, language });
    await connect(tx, created, { person, title });
    return created;
  }
  if (!owner.isVerified) throw new PageError("CONFLICT", ({ unconfirmed }) => unconfirmed(person));
  await lockUser(tx, owner.id);
  // Another device was faster.
  if ((await findIdentityUser(tx, person))?.id === owner.id) return owner;
  await connect(tx, owner, { person, title });
  await reportConnection(tx, owner, title, "connected");
  return owner;
}

async function reportConnection(tx: Tx, user: User, service: string, change: "connected" | "disconnected") {
  const reported = await notifiedOf(tx, user);
  await enqueuePlatformEmails(tx, [
    accountMail(reported, (texts) => texts[change]({ ...reported, service })),
  ]);
}

async function connect(tx: Tx, user: User, { person, title }: { person: Person; title: string }) {
  if (!(await insertIdentity(tx, newId(), user.id, person)))
    throw new PageError("CONFLICT", ({ otherAccount }) => otherAccount({ service: title }));
}

/**
 * Connects a person of another service with the signed-in account, unless they are connected already.
 *
 * @throws AppError CONFLICT; UNAUTHORIZED if the session has ended in between
 */
export async function connectIdentity(
  tx: Tx,
  session: OwnSession,
  { person, title }: { person: Person; title: string },
): Promise<void> {
  const { userId } = session;
  await lockUserOfSession(tx, session);
  if ((await findIdentityUser(tx, person))?.id === userId) return;
  const user = await readAccount(tx, userId);
  await connect(tx, user, { person, title });
  await reportConnection(tx, user, title, "connected");
}

/** Returns the services an account is connected with, and whether it also has a password. */
export async function readIdentities(database: Database, userId: string, providers: readonly Provider[]) {
  const [{ passwordHash }, rows] = await Promise.all([
    readAccount(database, userId),
    listIdentityRows(database, userId),
  ]);
  return {
    hasPassword: passwordHash !== null,
    identities: rows.map((row) => ({
      id: row.id,
      provider: providers.find(({ issuer }) => issuer === row.issuer)?.name ?? null,
      title: titleOf(row.issuer, providers),
      email: row.email,
      createdAt: row.createdAt.toISOString(),
    })),
  };
}

/** A service that is no longer configured is shown by its issuer. */
function titleOf(issuer: string, providers: readonly Provider[]): string {
  return providers.find((one) => one.issuer === issuer)?.title ?? issuer;
}

/**
 * Disconnects a service from an account.
 * @throws AppError RESOURCE_NOT_FOUND, also for another user's; CONFLICT for the only sign-in method
 */
export async function disconnectIdentity(
  tx: Tx,
  { userId, id, providers }: { userId: string; id: string; providers: readonly Provider[] },
): Promise<void> {
  const user = await lockUser(tx, userId);
  const issuer = user !== undefined && isId(id) ? await deleteIdentity(tx, userId, id) : undefined;
  if (user === undefined || issuer === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  if (!(await hasWayIn(tx, userId)))
    throw new AppError("CONFLICT", {
      message:
        "This is the only way to sign in to your account. Set a password first with “Forgot your password?”.",
    });
  await reportConnection(tx, user, titleOf(issuer, providers), "disconnected");
}

// Actions of the instance admin on the command line: accounts, projects, keys, a test email. Access to the database is the only permission
// needed. Changes of a project are recorded in its audit log with the service as actor.
import { setTimeout as delay } from "node:timers/promises";
import { parseAddress } from "@postloft/contract/address.ts";
import { createKey as createKeyEndpoint } from "@postloft/contract/keys.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { randomText, type Sealer } from "../platform/crypto.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { fieldErrors } from "../platform/http/errors.ts";
import { AppError } from "../platform/app-error.ts";
import {
  enqueuePlatformEmails,
  readPlatformEmailState,
  type PlatformEmailState,
} from "../emails/platform-email/platform-email.ts";
import { SERVICE } from "../audit/audit-log.ts";
import { createPasswords } from "../users/passwords.ts";
import { dropSecondFactor } from "../users/second-factor/second-factor.ts";
import {
  createUser,
  dropUser,
  findUserByAddress,
  findUserOfId,
  proveUser,
  replacePassword,
  notifiedAt,
  type User,
} from "../users/users.ts";
import { giveMemberships, onlyOwnedBy } from "../projects/members/members.ts";
import { notificationMail } from "../projects/members/notification-mails.ts";
import {
  createProject,
  getOwnerId,
  projectNames,
  regenerateKeys,
  type ProjectView,
} from "../projects/projects.ts";
import { createKey } from "../projects/scoped-keys/scoped-keys.ts";
import { enableProject } from "../projects/suspend-projects.ts";
import { listUserRows } from "./queries.ts";

/** An expected error, with a message for the admin. */
export class OperatorError extends Error {}

const MADE_PASSWORD_LENGTH = 20;
const POLL_MS = 250;

interface Around {
  database: Database;
  sealer: Sealer;
}

/** An account and its password, which is never shown again. */
export interface WithPassword extends User {
  password: string;
}

/**
 * Creates an account. Generates a password if it is null.
 * @throws OperatorError; AppError CONFLICT if the address has one
 */
export async function createAccount(
  database: Database,
  email: string,
  password: string | null,
): Promise<WithPassword> {
  const address = canonical(email);
  const made = await makePassword(address, password);
  const user = await transaction(database, (tx) =>
    createUser(tx, { email: address, passwordHash: made.hash, isVerified: true }),
  );
  return { ...user, password: made.password };
}

/**
 * Replaces an account's password and ends its sessions. Generates a password if it is null.
 * @throws OperatorError
 */
export async function resetPassword(
  database: Database,
  email: string,
  password: string | null,
): Promise<WithPassword & { endedSessions: number }> {
  const user = await findAccount(database, email);
  const made = await makePassword(user.email, password, await projectNames(database, user.email));
  const endedSessions = await transaction(database, (tx) => replacePassword(tx, user, made.hash));
  return { ...user, password: made.password, endedSessions };
}

/**
 * Deletes an account.
 *
 * @param heirId the account that gets its memberships
 * @throws OperatorError if the account does not exist, or a project would be left without an owner
 */
export async function removeAccount(database: Database, id: string, heirId: string | null): Promise<User> {
  return transaction(database, async (tx) => {
    const user = await findUser(tx, id);
    if (heirId === id) throw new OperatorError("--to must be another account.");
    if (heirId === null) {
      const owned = await onlyOwnedBy(tx, id);
      if (owned.length > 0)
        throw new OperatorError(
          `${user.email} is the only owner of ${owned.length} projects. Name the account that gets them with --to.`,
        );
    } else {
      await findUser(tx, heirId);
      await giveMemberships(tx, id, heirId);
    }
    await dropUser(tx, id);
    return user;
  });
}

async function findUser(tx: Tx, id: string): Promise<User> {
  const user = await findUserOfId(tx, id);
  if (user === undefined) throw new OperatorError(`Account ${id} does not exist.`);
  return user;
}

/**
 * Disables the second factor of an account, for a user who lost the app and the recovery codes.
 * @throws OperatorError
 */
export async function switchSecondFactorOff(
  database: Database,
  email: string,
): Promise<User & { wasOn: boolean }> {
  const user = await findAccount(database, email);
  return { ...user, wasOn: await transaction(database, (tx) => dropSecondFactor(tx, user)) };
}

/**
 * Creates a project for an account and returns it with both keys.
 * @throws OperatorError
 */
export async function createProjectFor(
  { database, sealer }: Around,
  { name, owner }: { name: string; owner: string },
): Promise<ProjectView> {
  if (name.trim() === "" || name.length > LIMITS.nameLength.value)
    throw new OperatorError(`The name must have 1 to ${LIMITS.nameLength.value} characters.`);
  const user = await findAccount(database, owner);
  const around = { sealer, inboundDomain: null };
  return transaction(database, (tx) => createProject(tx, around, { name: name.trim(), ownerId: user.id }));
}

/**
 * Replaces both keys of a project. The old ones are invalid immediately.
 * @throws AppError PROJECT_NOT_FOUND
 */
export async function rotateKeys({ database, sealer }: Around, projectId: string): Promise<ProjectView> {
  return transaction(database, async (tx) => {
    const userId = await getOwnerId(tx, projectId);
    return regenerateKeys(tx, { sealer, inboundDomain: null }, { projectId, userId, actor: SERVICE });
  });
}

/**
 * Creates a scoped key of a project with its owner as creator. `key` is never shown again.
 *
 * @param input like the body of `POST /projects/:projectId/keys`
 * @throws AppError VALIDATION_ERROR, CONFLICT, PROJECT_NOT_FOUND
 */
export async function makeKey(database: Database, projectId: string, input: object) {
  const parsed = createKeyEndpoint.body.safeParse(input);
  if (!parsed.success)
    throw new AppError("VALIDATION_ERROR", { fields: fieldErrors(parsed.error.issues, input, "body") });
  return transaction(database, async (tx) => {
    const userId = await getOwnerId(tx, projectId);
    return createKey(tx, { projectId, userId, actor: SERVICE }, parsed.data);
  });
}

/**
 * Enables a project and returns whether it was disabled.
 * @throws AppError PROJECT_NOT_FOUND, CONFLICT
 */
export async function enableAgain(database: Database, projectId: string, reason: string): Promise<boolean> {
  return transaction(database, (tx) => enableProject(tx, { projectId, actor: SERVICE, reason }));
}

/**
 * Marks the address of an account as confirmed, for an installation whose email doesn't leave the machine.
 * @throws OperatorError
 */
export async function confirmAddress(database: Database, email: string): Promise<User> {
  const { id, email: address } = await findAccount(database, email);
  await transaction(database, (tx) => proveUser(tx, { id, email: address }));
  return { id, email: address };
}

/**
 * Sends a test email like all platform email and waits for the mail server's reply.
 *
 * @param patienceMs how long to wait; needs a running process with the role `worker`
 */
export async function sendTestMail(
  database: Database,
  to: string,
  patienceMs: number,
): Promise<PlatformEmailState & { id: string }> {
  const { email, language } = await notifiedAt(database, canonical(to));
  const mail = { to: email, ...notificationMail((texts) => texts.test())(language) };
  const [id = ""] = await transaction(database, (tx) => enqueuePlatformEmails(tx, [mail]));
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const state = await readPlatformEmailState(database, id);
    if (state === undefined) throw new OperatorError("The test email was deleted from the database.");
    const isSettled = !["QUEUED", "CLAIMED", "SENDING"].includes(state.status);
    if (isSettled || state.answer !== null || performance.now() >= endMs) return { id, ...state };
    await delay(POLL_MS);
  }
}

/** Sends the same and returns its result as the installation page shows it. */
export async function sendTestOf(database: Database, to: string, patienceMs: number) {
  const { id, status, transport, answer: reply } = await sendTestMail(database, to, patienceMs);
  return { id, status, transport, reply };
}

function canonical(email: string): string {
  const address = parseAddress(email);
  if (!address.ok) throw new OperatorError(`${email}: ${address.reason}`);
  return address.address;
}

async function findAccount(database: Database, email: string): Promise<User> {
  const address = canonical(email);
  const user = await findUserByAddress(database, address);
  if (user === undefined) throw new OperatorError(`${address} has no account on this server.`);
  return user;
}

async function makePassword(
  email: string,
  input: string | null,
  projects: readonly string[] = [],
): Promise<{ password: string; hash: string }> {
  const { passwordMinimum, passwordMaximum } = LIMITS;
  const password = input?.normalize("NFC") ?? randomText(MADE_PASSWORD_LENGTH);
  if (password.length < passwordMinimum.value || password.length > passwordMaximum.value)
    throw new OperatorError(
      `A password must have ${passwordMinimum.value} to ${passwordMaximum.value} characters.`,
    );
  const passwords = createPasswords();
  try {
    return { password, hash: await passwords.hash("", { email, password, projects }) };
  } finally {
    await passwords.close();
  }
}

export interface ListedUser extends User {
  createdAt: string;
  /** How many projects the account is a member of. */
  projects: number;
}

/** Returns accounts in the order of their creation, starting after `after`. */
export async function listUsers(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<ListedUser[]> {
  const rows = await listUserRows(database, after, limit);
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    createdAt: row.createdAt.toISOString(),
    projects: row.projects ?? 0,
  }));
}

// What whoever runs the installation does without a browser: accounts, projects, keys, a test mail. There is nobody to ask for rights: who
// may open the database may do it. What changes a project stands in its audit log, as done by the service.
import { setTimeout as delay } from "node:timers/promises";
import { parseAddress } from "@postloft/contract/address.ts";
import { createKey as createKeyEndpoint } from "@postloft/contract/keys.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { randomText, type Sealer } from "../platform/crypto.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { fieldErrors } from "../platform/http/errors.ts";
import { Refusal } from "../platform/refusal.ts";
import {
  enqueueSystemMails,
  readSystemMailState,
  type SystemMailState,
} from "../emails/system-mail/system-mail.ts";
import { SERVICE } from "../audit/audit-log.ts";
import { createPasswords } from "../users/passwords.ts";
import { dropSecondFactor } from "../users/second-factor/second-factor.ts";
import {
  createUser,
  dropUser,
  findUserByAddress,
  findUserOfId,
  replacePassword,
  toldAt,
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

/** What was asked for cannot be done; a sentence for whoever asked. */
export class OperatorError extends Error {}

const MADE_PASSWORD_LENGTH = 20;
const LOOK_MS = 250;

interface Around {
  database: Database;
  sealer: Sealer;
}

/** An account and its password, which is shown this once. */
export interface WithPassword extends User {
  password: string;
}

/** Makes an account. `password`: made where null. @throws OperatorError; Refusal CONFLICT when the address has one */
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

/** Gives an account another password and ends its sessions. `password`: made where null. @throws OperatorError */
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
 * Deletes an account. Works on a database that is older than this program, because an address with several accounts keeps it from being
 * upgraded.
 *
 * @param heirId the account that gets its places in projects
 * @throws OperatorError if there is no such account, or a project would be left without an owner
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
  if (user === undefined) throw new OperatorError(`There is no account ${id}.`);
  return user;
}

/** Switches the second factor of an account off, for somebody who lost app and recovery codes. @throws OperatorError */
export async function switchSecondFactorOff(
  database: Database,
  email: string,
): Promise<User & { wasOn: boolean }> {
  const user = await findAccount(database, email);
  return { ...user, wasOn: await transaction(database, (tx) => dropSecondFactor(tx, user)) };
}

/** Makes a project of a person, with both its keys. @throws OperatorError */
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

/** Replaces both keys of a project: the old ones are dead at once. @throws Refusal PROJECT_NOT_FOUND */
export async function rotateKeys({ database, sealer }: Around, projectId: string): Promise<ProjectView> {
  return transaction(database, async (tx) => {
    const userId = await getOwnerId(tx, projectId);
    return regenerateKeys(tx, { sealer, inboundDomain: null }, { projectId, userId, actor: SERVICE });
  });
}

/**
 * Makes a scoped key of a project, in the name of its owner; `key` is never seen again.
 *
 * @param given as the body of `POST /projects/:projectId/keys`
 * @throws Refusal VALIDATION_ERROR, CONFLICT, PROJECT_NOT_FOUND
 */
export async function makeKey(database: Database, projectId: string, given: object) {
  const parsed = createKeyEndpoint.body.safeParse(given);
  if (!parsed.success)
    throw new Refusal("VALIDATION_ERROR", { fields: fieldErrors(parsed.error.issues, given, "body") });
  return transaction(database, async (tx) => {
    const userId = await getOwnerId(tx, projectId);
    return createKey(tx, { projectId, userId, actor: SERVICE }, parsed.data);
  });
}

/** Enables a disabled project; returns whether it was disabled. @throws Refusal PROJECT_NOT_FOUND, CONFLICT */
export async function enableAgain(database: Database, projectId: string, reason: string): Promise<boolean> {
  return transaction(database, (tx) => enableProject(tx, { projectId, actor: SERVICE, reason }));
}

/**
 * Sends a test mail the way all mail of the installation goes, and waits for what the mail server says.
 *
 * @param patienceMs how long; a process with the role `worker` has to run
 */
export async function sendTestMail(
  database: Database,
  to: string,
  patienceMs: number,
): Promise<SystemMailState & { id: string }> {
  const { email, language } = await toldAt(database, canonical(to));
  const mail = { to: email, ...notificationMail((texts) => texts.test())(language) };
  const [id = ""] = await transaction(database, (tx) => enqueueSystemMails(tx, [mail]));
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const state = await readSystemMailState(database, id);
    if (state === undefined) throw new OperatorError("The test mail is gone: somebody emptied its table.");
    const isSettled = !["QUEUED", "CLAIMED", "SENDING"].includes(state.status);
    if (isSettled || state.answer !== null || performance.now() >= endMs) return { id, ...state };
    await delay(LOOK_MS);
  }
}

function canonical(email: string): string {
  const address = parseAddress(email);
  if (!address.ok) throw new OperatorError(`${email}: ${address.reason}`);
  return address.address;
}

async function findAccount(database: Database, email: string): Promise<User> {
  const address = canonical(email);
  const user = await findUserByAddress(database, address);
  if (user === undefined) throw new OperatorError(`${address} has no account here.`);
  return user;
}

async function makePassword(
  email: string,
  given: string | null,
  projects: readonly string[] = [],
): Promise<{ password: string; hash: string }> {
  const { passwordMinimum, passwordMaximum } = LIMITS;
  const password = given?.normalize("NFC") ?? randomText(MADE_PASSWORD_LENGTH);
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

/** People in the order of their accounts, from the one after `after` on; for whoever runs the installation. */
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

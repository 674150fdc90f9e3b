// Passkeys of accounts: adding, listing, renaming, removing (docs/decisions/0074-passkeys.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { randomText, sha256 } from "../../platform/crypto.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import { enqueuePlatformEmails } from "../../emails/platform-email/platform-email.ts";
import { accountMail } from "../account-mails.ts";
import { hasWayIn, lockUser } from "../account-queries.ts";
import { lockUserOfSession, type OwnSession } from "../recent-session.ts";
import { notifiedOf, type User } from "../users.ts";
import {
  deletePasskey,
  findPasskey,
  insertChallenge,
  insertPasskey,
  listPasskeyRows,
  recordUse,
  takeChallenge,
  updateName,
} from "./queries.ts";
import type { Assertion, Expected, PasskeyVerifier, Registration } from "./verifier.ts";

/** 256 bits; WebAuthn §13.4.3 asks for 16 bytes. */
const CHALLENGE_LENGTH = 43;
const CHALLENGE_SECONDS = LIMITS.passkeyMinutes.value * 60;
const TIMEOUT_MS = CHALLENGE_SECONDS * 1_000;
const NAME = "Postloft";
/** COSE: ES256, EdDSA, RS256. */
const ALGORITHMS = [-7, -8, -257];

/** Limits passkeys to the host of the public address and to pages of its origin. */
const placeOf = (baseUrl: string) => {
  const { hostname, origin } = new URL(baseUrl);
  return { rpId: hostname, origin };
};

const toBase64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const fromBase64Url = (text: string) => Buffer.from(text, "base64url");
/** The user handle that authenticators store with the key; it reveals nothing about the user (WebAuthn §14.6.1). */
const handleOf = (userId: string) => Buffer.from(userId.replaceAll("-", ""), "hex");

interface PasskeyDependencies {
  database: Database;
  verifier: PasskeyVerifier;
  baseUrl: () => string;
}

async function makeChallenge(database: Database, userId: string | null): Promise<string> {
  const challenge = Buffer.from(randomText(CHALLENGE_LENGTH)).toString("base64url");
  await insertChallenge(database, sha256(challenge), userId, CHALLENGE_SECONDS);
  return challenge;
}

/** Consumes the signed challenge. Returns null if it is unknown, used or expired. */
async function takeSigned(database: Database, clientDataJSON: string, userId: string | null) {
  const challenge = challengeIn(clientDataJSON);
  return challenge !== null && (await takeChallenge(database, sha256(challenge), userId)) ? challenge : null;
}

function challengeIn(clientDataJSON: string): string | null {
  try {
    const said: unknown = JSON.parse(fromBase64Url(clientDataJSON).toString("utf8"));
    const challenge =
      typeof said === "object" && said !== null && "challenge" in said ? said.challenge : null;
    return typeof challenge === "string" ? challenge : null;
  } catch {
    return null;
  }
}

/** Returns the browser options for signing in with any passkey. */
export async function askForPasskey({ database, baseUrl }: PasskeyDependencies) {
  return {
    challenge: await makeChallenge(database, null),
    rpId: placeOf(baseUrl()).rpId,
    timeout: TIMEOUT_MS,
    userVerification: "required" as const,
  };
}

/**
 * Returns the browser options for creating a passkey.
 * @throws AppError CONFLICT if the account has the maximum number
 */
export async function beginPasskey({ database, baseUrl }: PasskeyDependencies, user: User) {
  const rows = await listPasskeyRows(database, user.id);
  refuseTooMany(rows);
  return {
    challenge: await makeChallenge(database, user.id),
    rp: { id: placeOf(baseUrl()).rpId, name: NAME },
    user: { id: toBase64Url(handleOf(user.id)), name: user.email, displayName: user.email },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: TIMEOUT_MS,
    attestation: "none" as const,
    authenticatorSelection: {
      residentKey: "required" as const,
      requireResidentKey: true as const,
      userVerification: "required" as const,
    },
    excludeCredentials: rows.map((row) => ({
      type: "public-key" as const,
      id: toBase64Url(row.credentialId),
    })),
  };
}

function refuseTooMany(rows: readonly unknown[]): void {
  const most = LIMITS.passkeys.value;
  if (rows.length >= most)
    throw new AppError(
      "CONFLICT",
      withValues("Your account already has {most} passkeys. Remove one first.", { most }),
    );
}

export interface NewPasskey {
  id: string;
  publicKey: Uint8Array;
  counter: number;
  transports: string[];
}

/**
 * Verifies a new passkey before it is stored.
 * @throws AppError VALIDATION_ERROR naming `passkey`
 */
export async function readRegistration(
  deps: PasskeyDependencies,
  userId: string,
  input: Registration,
): Promise<NewPasskey> {
  const { id, response } = input;
  const challenge = await takeSigned(deps.database, response.clientDataJSON, userId);
  if (challenge === null)
    throw invalidField("passkey", "custom", "The challenge was already used or has expired. Start again.");
  const expected: Expected = { challenge, ...placeOf(deps.baseUrl()) };
  const result = await deps.verifier.verify(userId, { is: "registration", id, response, expected });
  if (result.is === "refused")
    throw invalidField(
      "passkey",
      "custom",
      withValues("The passkey is not valid: {why}", { why: result.reason }),
    );
  return { id, publicKey: result.publicKey, counter: result.counter, transports: response.transports ?? [] };
}

/**
 * Stores a passkey and notifies its owner.
 * @throws AppError CONFLICT; UNAUTHORIZED if the session has ended in between
 */
export async function addPasskey(tx: Tx, session: OwnSession, name: string, made: NewPasskey) {
  const user = await lockUserOfSession(tx, session);
  const { userId } = session;
  refuseTooMany(await listPasskeyRows(tx, userId));
  const row = await insertPasskey(tx, {
    id: newId(),
    userId,
    credentialId: fromBase64Url(made.id),
    publicKey: Buffer.from(made.publicKey),
    signCount: made.counter,
    transports: made.transports,
    name,
  });
  if (row === undefined) throw new AppError("CONFLICT", { message: "This passkey was already added." });
  const reported = await notifiedOf(tx, user);
  await enqueuePlatformEmails(tx, [
    accountMail(reported, (texts) => texts.passkeyAdded({ ...reported, name })),
  ]);
  return presented(row);
}

/** The owner of a verified passkey, and the counter to record when it is used. */
export interface Shown {
  user: User;
  passkeyId: string;
  counter: number;
}

/**
 * Verifies a passkey and returns its owner. Every failure has the same error, such as an unknown passkey, another user's challenge or
 * another site.
 *
 * @param owner callers with the same owner take turns
 * @throws AppError INVALID_CREDENTIALS, RATE_LIMIT_EXCEEDED
 */
export async function readAssertion(
  deps: PasskeyDependencies,
  owner: string,
  { id, response }: Assertion,
): Promise<Shown> {
  const challenge = await takeSigned(deps.database, response.clientDataJSON, null);
  const row = challenge === null ? undefined : await findPasskey(deps.database, fromBase64Url(id));
  if (challenge === null || row === undefined) throw invalidPasskey();
  if (!fromBase64Url(response.userHandle).equals(handleOf(row.userId))) throw invalidPasskey();
  const expected: Expected = { challenge, ...placeOf(deps.baseUrl()) };
  const { publicKey, signCount: counter } = row;
  const task = { is: "assertion", id, response, expected, publicKey, counter } as const;
  const result = await deps.verifier.verify(owner, task);
  if (result.is === "refused") throw invalidPasskey();
  return { user: { id: row.userId, email: row.email }, passkeyId: row.id, counter: result.counter };
}

/**
 * Records the use in the transaction of the sign-in.
 * @throws AppError INVALID_CREDENTIALS if its counter went back
 */
export async function usePasskey(tx: Tx, { passkeyId, counter }: Shown): Promise<void> {
  if (!(await recordUse(tx, passkeyId, counter))) throw invalidPasskey();
}

const invalidPasskey = () =>
  new AppError("INVALID_CREDENTIALS", {
    message:
      "This passkey doesn't belong to an account here, or it took too long. Try again, or sign in another way.",
  });

export async function listPasskeys(database: Database, userId: string) {
  return (await listPasskeyRows(database, userId)).map(presented);
}

/**
 * Renames a passkey.
 * @throws AppError RESOURCE_NOT_FOUND, also for another user's
 */
export async function renamePasskey(tx: Tx, userId: string, id: string, name: string) {
  const row = isId(id) ? await updateName(tx, userId, id, name) : undefined;
  if (row === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  return presented(row);
}

/**
 * Removes a passkey and notifies its owner.
 * @throws AppError RESOURCE_NOT_FOUND, also for another user's; CONFLICT for the only sign-in method
 */
export async function removePasskey(tx: Tx, userId: string, id: string): Promise<void> {
  const user = await lockUser(tx, userId);
  const name = user !== undefined && isId(id) ? await deletePasskey(tx, userId, id) : undefined;
  if (user === undefined || name === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  if (!(await hasWayIn(tx, userId)))
    throw new AppError("CONFLICT", {
      message:
        "This is the only way to sign in to your account. Set a password first with “Forgot your password?”.",
    });
  const reported = await notifiedOf(tx, user);
  await enqueuePlatformEmails(tx, [
    accountMail(reported, (texts) => texts.passkeyRemoved({ ...reported, name })),
  ]);
}

function presented(row: { id: string; name: string; createdAt: Date; lastUsedAt: Date | null }) {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}

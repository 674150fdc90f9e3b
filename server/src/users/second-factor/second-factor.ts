// Second factor of an account: enabled by a first code, required at each sign-in, disabled with password and code.
import { randomBytes } from "node:crypto";
import { nowMs } from "../../platform/clock.ts";
import { randomText, sha256, type Sealer } from "../../platform/crypto.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { PageError } from "../page-error.ts";
import { enqueuePlatformEmails } from "../../emails/platform-email/platform-email.ts";
import { accountMail } from "../account-mails.ts";
import { deleteSessions } from "../account-queries.ts";
import { notifiedOf, type User } from "../users.ts";
import {
  deleteFactor,
  lockFactor,
  recordStep,
  readFactor,
  replaceRecoveryCodes,
  storeSecret,
  takeRecoveryCode,
} from "./queries.ts";
import { TOTP_CODE } from "./guard-code.ts";
import { otpauthUri, stepOf, toBase32 } from "./totp.ts";

/** As long as the hash (RFC 4226 §4). */
const SECRET_BYTES = 20;
const ISSUER = "Postloft";
const RECOVERY_CODES = 10;
const RECOVERY_CODE_LENGTH = 12;

const contextOf = (userId: string) => `second factor ${userId}`;
const alreadyOn = () =>
  new AppError("CONFLICT", { message: "The second factor is already on. Turn it off first." });
const isOff = () => new AppError("CONFLICT", { message: "The second factor is off." });
const wrongCode = () => new PageError("INVALID_CREDENTIALS", (problems) => problems.wrongCode);

export async function readSecondFactor(database: Database, userId: string) {
  const row = await readFactor(database, userId);
  return {
    isOn: row !== undefined,
    since: row?.confirmedAt.toISOString() ?? null,
    recoveryCodesLeft: row?.codesLeft ?? 0,
  };
}

/**
 * Creates a secret, which has no effect until a code confirms it.
 * @throws AppError CONFLICT if the second factor is on
 */
export async function beginSecondFactor(tx: Tx, sealer: Sealer, user: User) {
  const secret = randomBytes(SECRET_BYTES);
  const sealed = sealer.seal(secret.toString("base64"), contextOf(user.id));
  if (!(await storeSecret(tx, user.id, sealed))) throw alreadyOn();
  return { secret: toBase32(secret), uri: otpauthUri(secret, user.email, ISSUER) };
}

/**
 * Enables the second factor and ends all sessions except `sessionId`.
 * @throws AppError CONFLICT, INVALID_CREDENTIALS
 */
export async function confirmSecondFactor(
  tx: Tx,
  sealer: Sealer,
  { user, sessionId, code }: { user: User; sessionId: string | null; code: string },
): Promise<string[]> {
  const row = await lockFactor(tx, user.id);
  if (row === undefined)
    throw new AppError("CONFLICT", { message: "There is no secret to confirm. Request one first." });
  if (row.confirmedAt !== null) throw alreadyOn();
  if (!(await takeTotp(tx, sealer, user.id, row, code))) throw wrongCode();
  await deleteSessions(tx, user.id, { allBut: sessionId });
  await enqueuePlatformEmails(tx, [
    accountMail(await notifiedOf(tx, user), (texts) => texts.secondFactorOn(user)),
  ]);
  return makeRecoveryCodes(tx, user.id);
}

/**
 * Checks the second factor at sign-in: an authenticator or recovery code, each accepted once. Does nothing if it is off.
 *
 * @throws AppError SECOND_FACTOR_REQUIRED without a code, INVALID_CREDENTIALS for a wrong one
 */
export async function passSecondFactor(
  tx: Tx,
  sealer: Sealer,
  userId: string,
  code: string | undefined,
): Promise<void> {
  const row = await lockFactor(tx, userId);
  if (row === undefined || row.confirmedAt === null) return;
  if (code === undefined) throw new AppError("SECOND_FACTOR_REQUIRED");
  const isRight = TOTP_CODE.test(code)
    ? await takeTotp(tx, sealer, userId, row, code)
    : await takeRecoveryCode(tx, userId, sha256(normalized(code)));
  if (!isRight) throw wrongCode();
}

/**
 * Replaces the recovery codes after checking a code, and notifies the user.
 * @throws AppError CONFLICT, INVALID_CREDENTIALS
 */
export async function renewRecoveryCodes(
  tx: Tx,
  sealer: Sealer,
  user: User,
  code: string,
): Promise<string[]> {
  if ((await readFactor(tx, user.id)) === undefined) throw isOff();
  await passSecondFactor(tx, sealer, user.id, code);
  const reported = await notifiedOf(tx, user);
  await enqueuePlatformEmails(tx, [accountMail(reported, (texts) => texts.recoveryCodesRenewed(user))]);
  return makeRecoveryCodes(tx, user.id);
}

/**
 * Disables the second factor after checking a code.
 * @throws AppError CONFLICT, INVALID_CREDENTIALS
 */
export async function endSecondFactor(tx: Tx, sealer: Sealer, user: User, code: string): Promise<void> {
  await passSecondFactor(tx, sealer, user.id, code);
  if (!(await dropSecondFactor(tx, user))) throw isOff();
}

/** Disables the second factor without a code, for a user who lost access, and notifies them. Returns false if it was off. */
export async function dropSecondFactor(tx: Tx, user: User): Promise<boolean> {
  if (!(await deleteFactor(tx, user.id))) return false;
  await enqueuePlatformEmails(tx, [
    accountMail(await notifiedOf(tx, user), (texts) => texts.secondFactorOff(user)),
  ]);
  return true;
}

/** Accepts each code once: its step must come after the last accepted one (RFC 6238 §5.2). */
async function takeTotp(
  tx: Tx,
  sealer: Sealer,
  userId: string,
  row: { sealedSecret: Buffer; lastStep: number },
  code: string,
): Promise<boolean> {
  const secret = Buffer.from(sealer.open(row.sealedSecret, contextOf(userId)), "base64");
  const step = stepOf(secret, code, nowMs());
  if (step === null || step <= row.lastStep) return false;
  await recordStep(tx, userId, step);
  return true;
}

async function makeRecoveryCodes(tx: Tx, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomText(RECOVERY_CODE_LENGTH).toLowerCase());
  await replaceRecoveryCodes(tx, userId, codes.map(sha256));
  return codes.map((code) => code.replaceAll(/(.{4})(?=.)/g, "$1-"));
}

/** Returns a code as it is stored, however it was typed. */
const normalized = (code: string) => code.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

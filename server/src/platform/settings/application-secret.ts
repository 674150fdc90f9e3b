// Provides the application secret from the settings, or creates it once and keeps it next to the embedded database.
import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { flushFolder } from "../embedded-postgres/cluster.ts";
import { systemErrorCode } from "../embedded-postgres/errors.ts";
import { giveToOwnerOfFolder } from "../embedded-postgres/lock.ts";
import { StartError } from "../start-error.ts";

const SECRET_BYTES = 32;

/**
 * Returns the secret of a data folder and creates it at the first start. Only its owner may read the file.
 * @param isInUse whether the database has accounts, because a new secret could not open their encrypted data
 * @throws StartError if the secret of a database in use is missing
 */
export async function readOrMakeSecret(dataDir: string, isInUse: () => Promise<boolean>): Promise<string> {
  const there = await readSecret(dataDir);
  if (there !== null) return there;
  if (await isInUse()) throw missing(dataDir);
  const made = randomBytes(SECRET_BYTES).toString("hex");
  try {
    await keepSecret(dataDir, made);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
    // Only one of two concurrent first starts creates the secret, and the other reads it.
    return (await readSecret(dataDir)) ?? made;
  }
  return made;
}

/** Returns the secret of a data folder that has a database. @throws StartError if it is missing */
export async function findSecret(dataDir: string): Promise<string> {
  const secret = await readSecret(dataDir);
  if (secret === null) throw missing(dataDir);
  return secret;
}

const missing = (dataDir: string) =>
  new StartError(
    `${pathOf(dataDir)} is missing, and APP_SECRET is not set. The keys in the database cannot be read without this secret. ` +
      "Put the file back, or set APP_SECRET to its content.",
  );

/** Returns the secret, or null if there is none. */
export async function readSecret(dataDir: string): Promise<string | null> {
  const path = pathOf(dataDir);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return null;
    throw error;
  });
  const secret = text?.trim() ?? null;
  if (secret !== null && secret.length < SECRET_BYTES)
    throw new StartError(`${path} is damaged. It must contain at least ${SECRET_BYTES} characters.`);
  return secret;
}

const pathOf = (dataDir: string) => join(dataDir, "app-secret");

/** Stores a secret in a data folder completely, including the flush to disk, or not at all. @throws Error EEXIST if there already is one */
export async function keepSecret(dataDir: string, secret: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const unfinished = `${pathOf(dataDir)}.${randomUUID()}`;
  try {
    const file = await open(unfinished, "wx", 0o600);
    try {
      await file.writeFile(secret);
      await file.sync();
    } finally {
      await file.close();
    }
    giveToOwnerOfFolder(dataDir, [unfinished]);
    // Unlike a rename, a link never replaces an existing file.
    await link(unfinished, pathOf(dataDir));
  } finally {
    await rm(unfinished, { force: true });
  }
  await flushFolder(dataDir);
}

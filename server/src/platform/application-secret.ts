// The application secret: from the settings, or made once and kept beside the embedded database.
// Before it: config.ts. After it: crypto.ts derives every key from it.
import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { flushFolder } from "./embedded-postgres/cluster.ts";
import { systemErrorCode } from "./embedded-postgres/errors.ts";
import { giveToOwnerOfFolder } from "./embedded-postgres/lock.ts";

const SECRET_BYTES = 32;

/** Reads the secret of a data folder, making it at the first start; only its owner may read the file. */
export async function readOrMakeSecret(dataDir: string): Promise<string> {
  const there = await readSecret(dataDir);
  if (there !== null) return there;
  const made = randomBytes(SECRET_BYTES).toString("hex");
  try {
    await keepSecret(dataDir, made);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
    // Of two first starts at once only one makes it, and the other reads what that one made.
    return (await readSecret(dataDir)) ?? made;
  }
  return made;
}

/** null where there is none. */
async function readSecret(dataDir: string): Promise<string | null> {
  const path = pathOf(dataDir);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return null;
    throw error;
  });
  const secret = text?.trim() ?? null;
  if (secret !== null && secret.length < SECRET_BYTES)
    throw new Error(`${path} is damaged: it must hold at least ${SECRET_BYTES} characters.`);
  return secret;
}

const pathOf = (dataDir: string) => join(dataDir, "app-secret");

/** Puts a secret into a data folder: whole and on the disk, or not at all. @throws Error EEXIST where there is one */
async function keepSecret(dataDir: string, secret: string): Promise<void> {
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
    // Unlike a new name it never takes the place of a file that is there.
    await link(unfinished, pathOf(dataDir));
  } finally {
    await rm(unfinished, { force: true });
  }
  await flushFolder(dataDir);
}

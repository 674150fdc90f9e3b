// The application secret: from the settings, or made once and kept beside the embedded database.
// Before it: config.ts. After it: crypto.ts derives every key from it.
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SECRET_BYTES = 32;

/** Reads the secret of a data folder, making it at the first start; only its owner may read the file. */
export async function readOrMakeSecret(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, "app-secret");
  try {
    // `wx`: of two first starts at once only one makes it, and the other reads what that one made.
    await writeFile(path, randomBytes(SECRET_BYTES).toString("hex"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  }
  const secret = (await readFile(path, "utf8")).trim();
  if (secret.length < SECRET_BYTES)
    throw new Error(`${path} is damaged: it must hold at least ${SECRET_BYTES} characters.`);
  return secret;
}

// Tests the secret of a data folder. It is created once and completely, and belongs to the folder's owner.
import { execFile } from "node:child_process";
import { chown, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findSecret, readOrMakeSecret } from "./application-secret.ts";

const NO_ONE = 65_534;
const isNew = async () => false;

let dataDir = "";
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postloft-secret-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test("creates one secret for concurrent first starts, readable by its owner only", async () => {
  const made = await Promise.all([readOrMakeSecret(dataDir, isNew), readOrMakeSecret(dataDir, isNew)]);
  expect(made).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), made[0]]);
  expect(await readOrMakeSecret(dataDir, isNew)).toBe(made[0]);
  expect((await stat(join(dataDir, "app-secret"))).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(["app-secret"]);
});

test("leaves no partial file when the disk is full, and creates the secret on the next start", async () => {
  const module = JSON.stringify(new URL("./application-secret.ts", import.meta.url));
  const script = `(await import(${module})).readOrMakeSecret(${JSON.stringify(dataDir)}, async () => false)`;
  // No byte may be written to a file.
  const args = ["-c", 'ulimit -f 0; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  await expect(promisify(execFile)("sh", args)).rejects.toThrow("Command failed");
  expect(await readdir(dataDir)).not.toContain("app-secret");
  expect(await readOrMakeSecret(dataDir, isNew)).toMatch(/^[0-9a-f]{64}$/);
});

test("gives the secret to the owner of the folder when it is created with sudo", async () => {
  // Only root may change the owner of a file.
  if (process.getuid?.() === 0) await chown(dataDir, NO_ONE, NO_ONE);
  await readOrMakeSecret(dataDir, isNew);
  const [folder, file] = [await stat(dataDir), await stat(join(dataDir, "app-secret"))];
  expect([file.uid, file.gid]).toEqual([folder.uid, folder.gid]);
});

test("creates no secret when the database has accounts or the caller only reads", async () => {
  const reported = /app-secret is missing, and APP_SECRET is not set.*Put the file back, or set APP_SECRET/;
  await expect(readOrMakeSecret(dataDir, async () => true)).rejects.toThrow(reported);
  await expect(findSecret(dataDir)).rejects.toThrow(reported);
  expect(await readdir(dataDir)).toEqual([]);
  const made = await readOrMakeSecret(dataDir, isNew);
  expect(await findSecret(dataDir)).toBe(made);
  expect(await readOrMakeSecret(dataDir, async () => true)).toBe(made);
});

// Tests the application secret that a data folder created. A restore puts the secret back before any row and never creates a new one.
import { mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runAdmin } from "./admin.ts";
import { backUp, restore } from "./backup/back-up.ts";
import { startPostloft } from "./main.ts";
import { readConfig } from "./platform/settings/config.ts";
import { createLog } from "./platform/log.ts";

const quiet = () => undefined;
let folder = "";
let file = "";
const original = () => join(folder, "original");
const secretOf = (dataDir: string) => join(dataDir, "app-secret");

const configOf = (dataDir: string) =>
  readConfig({
    DATA_DIR: dataDir,
    PORT: "0",
    ROLES: "api",
    MAIL_TRANSPORT: "mailbox",
    DNS_SERVERS: "127.0.0.1:9",
    BOOTSTRAP_EMAIL: "owner@example.com",
    BOOTSTRAP_PASSWORD: "a password for tests",
  });
const start = (dataDir: string) => startPostloft(configOf(dataDir), createLog({ level: "silent" }), quiet);

async function countUsers(dataDir: string): Promise<number> {
  const said: string[] = [];
  await runAdmin(
    ["users", "--json"],
    () => configOf(dataDir),
    (line) => said.push(line),
  );
  return (JSON.parse(said.join("")) as { users: object[] }).users.length;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postloft-secret-"));
  file = join(folder, "whole.tar.gz");
  const running = await start(original());
  await backUp(configOf(original()), file, quiet);
  await running.stop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("explains how to put a missing secret back instead of creating one that opens no key", async () => {
  const aside = join(folder, "aside");
  await rename(secretOf(original()), aside);
  const reported = /app-secret is missing, and APP_SECRET is not set.*Put the file back/;
  await expect(start(original())).rejects.toThrow(reported);
  await expect(backUp(configOf(original()), join(folder, "without"), quiet)).rejects.toThrow(reported);
  const make = ["create-project", "Another", "--owner", "owner@example.com"];
  await expect(runAdmin(make, () => configOf(original()), quiet)).rejects.toThrow(reported);
  // Commands that create no keys do not need the secret.
  expect(await countUsers(original())).toBe(1);
  expect(await readdir(original())).not.toContain("app-secret");
  await rename(aside, secretOf(original()));
  await (await start(original())).stop();
});

test("writes the secret to its own file instead of the backup, and needs that file to restore", async () => {
  const secret = (await readFile(secretOf(original()), "utf8")).trim();
  expect(gunzipSync(await readFile(file)).includes(secret)).toBe(false);
  const beside = `${file}.app-secret`;
  expect((await readFile(beside, "utf8")).trim()).toBe(secret);
  expect((await stat(beside)).mode & 0o777).toBe(0o600);
  await rename(beside, join(folder, "elsewhere"));
  await expect(restore(configOf(join(folder, "without secret")), file, quiet)).rejects.toThrow(
    /\.app-secret/,
  );
  await rename(join(folder, "elsewhere"), beside);
});

test("restores nothing when the secret cannot be kept, and everything on the next try", async () => {
  const dataDir = join(folder, "restored");
  // The existing secret may still be needed, no matter which installation it belongs to.
  await (await start(dataDir)).stop();
  await rm(join(dataDir, "postgres"), { recursive: true });
  await writeFile(secretOf(dataDir), "the secret of another installation");
  await expect(restore(configOf(dataDir), file, quiet)).rejects.toThrow(/app-secret already exists/);
  expect(await readFile(secretOf(dataDir), "utf8")).toBe("the secret of another installation");
  expect(await countUsers(dataDir)).toBe(0);

  await rm(secretOf(dataDir));
  await restore(configOf(dataDir), file, quiet);
  expect(await readFile(secretOf(dataDir))).toEqual(await readFile(secretOf(original())));
  expect(await countUsers(dataDir)).toBe(1);
  await (await start(dataDir)).stop();
});

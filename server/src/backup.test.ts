// The secret of an installation whose data folder made it: it comes back with the backup, before any row does, and is never made anew.
import { mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runAdmin } from "./admin.ts";
import { backUp, restore } from "./backup.ts";
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

test("where it is gone nothing makes a new one, which would open no key: a start, a backup and a command that makes keys say what to do", async () => {
  const aside = join(folder, "aside");
  await rename(secretOf(original()), aside);
  const told = /app-secret is missing, and APP_SECRET is not set.*Put the file back/;
  await expect(start(original())).rejects.toThrow(told);
  await expect(backUp(configOf(original()), join(folder, "without"), quiet)).rejects.toThrow(told);
  const make = ["create-project", "Another", "--owner", "owner@example.com"];
  await expect(runAdmin(make, () => configOf(original()), quiet)).rejects.toThrow(told);
  // What makes no key needs none.
  expect(await countUsers(original())).toBe(1);
  expect(await readdir(original())).not.toContain("app-secret");
  await rename(aside, secretOf(original()));
  await (await start(original())).stop();
});

test("a backup doesn't contain the secret: its own file does, and a restore needs it", async () => {
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

test("a restore that cannot keep it restores nothing, and the next one all", async () => {
  const dataDir = join(folder, "restored");
  // Whatever it belongs to, it may be needed yet.
  await (await start(dataDir)).stop();
  await rm(join(dataDir, "postgres"), { recursive: true });
  await writeFile(secretOf(dataDir), "the secret of another installation");
  await expect(restore(configOf(dataDir), file, quiet)).rejects.toThrow(/app-secret is there already/);
  expect(await readFile(secretOf(dataDir), "utf8")).toBe("the secret of another installation");
  expect(await countUsers(dataDir)).toBe(0);

  await rm(secretOf(dataDir));
  await restore(configOf(dataDir), file, quiet);
  expect(await readFile(secretOf(dataDir))).toEqual(await readFile(secretOf(original())));
  expect(await countUsers(dataDir)).toBe(1);
  await (await start(dataDir)).stop();
});

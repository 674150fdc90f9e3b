// Tests backups of the installation page with the real commands: written, downloaded, restored into an own database, and deleted.
import { mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import * as contract from "@postloft/contract/installation-backups.ts";
import { errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";

const ADMIN = "person1@example.com";
const server = useTestServer({ ROLES: "api", ADMIN_EMAILS: ADMIN });
/** Two restores start a database each. */
const SLOW = { timeout: 240_000 };
const WAIT = { timeout: 90_000, interval: 100 };

async function admin(): Promise<TestCaller> {
  const { owner } = server.project;
  expect(owner.email).toBe(ADMIN);
  await server.prove(owner);
  return { cookie: owner.cookie };
}

const list = async () => (await server.call(contract.listBackups, await admin())).body;

/** Waits until no task runs and returns the list. */
async function untilEnded() {
  await vi.waitUntil(async () => (await list()).running === null, WAIT);
  return list();
}

test(
  "a backup is written once, downloaded, restored as a test, and deleted with its files",
  SLOW,
  async () => {
    const caller = await admin();
    const [first, second] = await Promise.all([
      server.call(contract.createBackup, caller),
      server.call(contract.createBackup, caller),
    ]);
    expect([first.status, second.status].toSorted()).toEqual([202, 409]);
    const { name } = first.status === 202 ? first.body : second.body;
    const params = { name };
    const written = await untilEnded();
    expect((await stat(written.folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(written.folder, name))).mode & 0o777).toBe(0o600);
    expect(written).toMatchObject({ failure: null, backups: [{ name, restoreTest: null }] });

    const download = await fetch(`${server.url}/installation/backups/${name}`, {
      headers: { cookie: caller.cookie ?? "" },
    });
    const bytes = Buffer.from(await download.arrayBuffer());
    expect(bytes.length).toBe(written.backups[0]?.bytes);
    expect(gunzipSync(bytes).includes(ADMIN)).toBe(true);

    await server.call(contract.testBackup, caller, { params });
    expect(errorOf(await server.call(contract.deleteBackup, caller, { params }))).toBe("409 CONFLICT");
    const [tested] = (await untilEnded()).backups;
    expect(tested?.restoreTest).toMatchObject({
      works: true,
      message: expect.stringMatching(/^\d+ rows in \d+ tables$/),
    });

    // A file that lost its end can't be restored, and its test says so.
    await writeFile(join(written.folder, name), bytes.subarray(0, bytes.length - 100));
    await server.call(contract.testBackup, caller, { params });
    const [broken] = (await untilEnded()).backups;
    expect(broken?.restoreTest).toMatchObject({
      works: false,
      message: expect.stringContaining("incomplete"),
    });

    expect((await server.call(contract.deleteBackup, caller, { params })).status).toBe(204);
    expect(await readdir(written.folder)).toEqual([]);
    expect(errorOf(await server.call(contract.testBackup, caller, { params }))).toBe(
      "404 RESOURCE_NOT_FOUND",
    );
  },
);

test("a backup whose process can't be started fails, and the server goes on", async () => {
  const program = process.execPath;
  process.execPath = "/nowhere/node";
  try {
    await server.call(contract.createBackup, await admin());
    const { backups, failure } = await untilEnded();
    expect([backups, failure]).toEqual([
      [],
      { works: false, message: expect.stringContaining("ENOENT"), at: expect.any(String) },
    ]);
  } finally {
    process.execPath = program;
  }
});

test("a task removes what a killed one left a day ago, but neither newer files nor backups", async () => {
  const { folder } = await list();
  await mkdir(folder, { recursive: true });
  const [old, young] = [new Date(Date.now() - 25 * 3_600_000), new Date(Date.now() - 23 * 3_600_000)];
  const backup = "postloft-2025-01-01T00-00-00Z.tar.gz";
  const add = async (prefix: string, at: Date) => {
    const names = [`${prefix}.tar.gz.partial`, `${prefix}.json.new`, `restore-test-${prefix}`];
    await mkdir(join(folder, `restore-test-${prefix}`));
    for (const name of names.slice(0, 2)) await writeFile(join(folder, name), "bytes");
    for (const name of names) await utimes(join(folder, name), at, at);
    return names;
  };
  await writeFile(join(folder, backup), "bytes");
  await utimes(join(folder, backup), old, old);
  await add("old", old);
  const kept = await add("young", young);
  await server.call(contract.testBackup, await admin(), { params: { name: backup } });
  await untilEnded();
  const tested = `${backup}.restore-test.json`;
  expect((await readdir(folder)).toSorted()).toEqual([backup, tested, ...kept].toSorted());
  expect((await stat(join(folder, tested))).mode & 0o777).toBe(0o600);
  for (const name of [...kept, backup, tested]) await rm(join(folder, name), { recursive: true });
});

test("an incomplete result of a restore test hides no backup", async () => {
  const { folder } = await list();
  await mkdir(folder, { recursive: true });
  const name = "postloft-2026-01-01T00-00-00Z.tar.gz";
  await writeFile(join(folder, name), "bytes");
  await writeFile(join(folder, `${name}.restore-test.json`), "{");
  expect((await list()).backups).toMatchObject([{ name, bytes: 5, restoreTest: null }]);
  await server.call(contract.deleteBackup, await admin(), { params: { name } });
  expect(await readdir(folder)).toEqual([]);
});

test("names outside the folder of backups are rejected", async () => {
  const caller = await admin();
  for (const name of [
    "..%2Fapp-secret",
    "app-secret",
    "postloft-2026-01-01T00-00-00Z.tar.gz%2F..%2F..%2Fapp-secret",
  ])
    for (const method of ["GET", "DELETE"] as const)
      expect((await server.call(method, `/installation/backups/${name}`, caller)).status).toBe(404);
});

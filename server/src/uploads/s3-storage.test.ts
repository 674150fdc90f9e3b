// Files in S3 with a compatible server: write, read, list and delete, and failures such as a wrong key.
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import S3rver from "s3rver";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { readConfig } from "../platform/settings/config.ts";
import { newFile, pathOf } from "./rules.ts";
import { createStorage, faultsOfStorage, type Storage } from "./storage.ts";

const directory = mkdtempSync(join(tmpdir(), "postloft-s3-"));
const s3 = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: "images", configs: [] }],
});
// The key and secret of this server.
const KEY = { S3_ACCESS_KEY_ID: "S3RVER", S3_ACCESS_KEY_SECRET: "S3RVER" };
let endpoint = "";

beforeAll(async () => {
  const { port } = (await s3.run()) as AddressInfo;
  endpoint = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await s3.close();
  await rm(directory, { recursive: true, force: true });
});

const storageWith = (settings: Record<string, string>): Promise<Storage> =>
  createStorage(readConfig({ S3_BUCKET: "images", S3_ENDPOINT: endpoint, ...KEY, ...settings }));

test("writes, reads, lists and deletes a file, and treats a missing file as no error", async () => {
  const storage = await storageWith({});
  const name = { projectId: newId(), file: newFile("image/png") };
  const bytes = Buffer.alloc(300_000, "image ");
  expect([await storage.has(name), await storage.open(name)]).toEqual([false, null]);
  await storage.write(name, bytes, "image/png");
  expect(await storage.has(name)).toBe(true);
  const opened = await storage.open(name);
  expect(opened?.bytes).toBe(bytes.length);
  expect(opened === null ? null : (await buffer(opened.stream)).equals(bytes)).toBe(true);
  const listed = await Array.fromAsync(storage.list());
  expect(listed).toEqual([{ path: pathOf(name), writtenAt: expect.any(Date) }]);
  for (let times = 0; times < 2; times++) await storage.remove(pathOf(name));
  expect([await storage.has(name), await Array.fromAsync(storage.list())]).toEqual([false, []]);
});

test("reports a wrong key and a missing bucket as failures, not as a missing file", async () => {
  const name = { projectId: newId(), file: newFile("image/png") };
  const wrong = await storageWith({ S3_ACCESS_KEY_ID: "wrong" });
  await expect(wrong.write(name, Buffer.from("x"), "image/png")).rejects.toThrow("Access Key Id");
  await expect(wrong.open(name)).rejects.toThrow("Access Key Id");
  const nowhere = await storageWith({ S3_BUCKET: "nowhere" });
  await expect(nowhere.open(name)).rejects.toThrow("bucket does not exist");
});

test("reports a bucket without a key at the start", () => {
  expect(faultsOfStorage({ S3_BUCKET: "images" })).toEqual([
    "S3_ACCESS_KEY_ID: required with S3_BUCKET",
    "S3_ACCESS_KEY_SECRET: required with S3_BUCKET",
  ]);
  expect(faultsOfStorage({ S3_BUCKET: "images", ...KEY })).toEqual([]);
  expect(faultsOfStorage({})).toEqual([]);
});

// Tests the memory file, which detects copies and ignores invalid content.
import { cp, mkdtemp, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStampFile } from "./stamp-file.ts";

const ID = "0198d3a0-0000-4000-8000-000000000001";
const KEPT = { id: ID, incarnation: 2, beat: 40, beatAtMs: 1_800_000_000_123.5 };
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "stamp-file-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("reads what was written and ignores the file of another installation", async () => {
  const file = createStampFile(join(folder, "not there yet"));
  expect(await file.read(ID)).toBeNull();
  await file.write(KEPT);
  await file.write({ ...KEPT, beat: 41 });
  expect(await file.read(ID)).toEqual({ ...KEPT, beat: 41, isCopy: false, rememberedSinceMs: null });
  expect(await file.read("0198d3a0-0000-4000-8000-000000000002")).toBeNull();
});

test("ignores a file that was half written in a crash", async () => {
  await writeFile(join(folder, `database-${ID}.json`), '{"id":"0198');
  expect(await createStampFile(folder).read(ID)).toBeNull();
});

test("detects a copied folder with or without its times, but not a rename or touched files", async () => {
  const original = join(folder, "data");
  const path = join(original, `database-${ID}.json`);
  await createStampFile(original).write(KEPT);
  // As if it had been written a minute ago.
  const content = JSON.parse(await readFile(path, "utf8")) as { madeAtMs: number };
  await writeFile(path, JSON.stringify({ ...content, madeAtMs: content.madeAtMs - 60_000 }));
  for (const preserveTimestamps of [true, false]) {
    const copy = join(folder, `copy ${preserveTimestamps}`);
    await cp(original, copy, { recursive: true, preserveTimestamps });
    expect(await createStampFile(copy).read(ID)).toMatchObject({ beat: 40, isCopy: true });
  }
  const renamed = join(folder, "renamed");
  await rename(original, renamed);
  await utimes(join(renamed, `database-${ID}.json`), 1, 1);
  expect(await createStampFile(renamed).read(ID)).toMatchObject({ beat: 40, isCopy: false });
});

// The file beside the database: what is written is read, a copy is told from the original, rubbish is nothing.
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

test("what is written is read, and one of another installation is not", async () => {
  const file = createStampFile(join(folder, "not there yet"));
  expect(await file.read(ID)).toBeNull();
  await file.write(KEPT);
  await file.write({ ...KEPT, beat: 41 });
  expect(await file.read(ID)).toEqual({ ...KEPT, beat: 41, isCopy: false, rememberedSinceMs: null });
  expect(await file.read("0198d3a0-0000-4000-8000-000000000002")).toBeNull();
});

test("what a crash left half written is nothing", async () => {
  await writeFile(join(folder, `database-${ID}.json`), '{"id":"0198');
  expect(await createStampFile(folder).read(ID)).toBeNull();
});

test("a copied folder is a copy, with its times kept or not; a renamed one and touched files are not", async () => {
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

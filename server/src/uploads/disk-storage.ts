// Stores image files on the local disk, in a folder per project. Writes a temporary file, syncs it and renames it.
import { mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathOf, UNFINISHED } from "./rules.ts";
import type { Storage, StoredFile } from "./stored-files.ts";

export function createDiskStorage(folder: string): Storage {
  const placeOf = (path: string) => join(folder, path);
  return {
    async write(name, bytes) {
      const place = placeOf(pathOf(name));
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      const file = await open(place + UNFINISHED, "w", 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } catch (error) {
        await rm(place + UNFINISHED, { force: true });
        throw error;
      } finally {
        await file.close();
      }
      await rename(place + UNFINISHED, place);
      await makeDurable(dirname(place));
      await makeDurable(folder);
    },
    async open(name) {
      const file = await orNull(open(placeOf(pathOf(name))));
      if (file === null) return null;
      const { size } = await file.stat();
      return { bytes: size, stream: file.createReadStream() };
    },
    async has(name) {
      return (await orNull(stat(placeOf(pathOf(name))))) !== null;
    },
    async remove(path) {
      await rm(placeOf(path), { force: true });
    },
    list: () => walk(folder),
  };
}

async function* walk(folder: string): AsyncGenerator<StoredFile> {
  const projects = await orNull(opendir(folder));
  if (projects === null) return;
  for await (const project of projects) {
    if (!project.isDirectory()) continue;
    const files = await orNull(opendir(join(folder, project.name)));
    for await (const { name } of files ?? []) {
      const found = await orNull(stat(join(folder, project.name, name)));
      if (found?.isFile() === true) yield { path: `${project.name}/${name}`, writtenAt: found.mtime };
    }
  }
}

/** Syncs a folder, because a new entry survives a power loss only then. Windows does not support it. */
async function makeDurable(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (Object(error).code === "ENOENT") return null;
    throw error;
  });
}

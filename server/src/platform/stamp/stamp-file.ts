// Remembers the state of the database in a small file in DATA_DIR, so that a rollback to an earlier state is detected.
import { mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Kept } from "./rules.ts";

const content = z.object({
  id: z.uuid(),
  incarnation: z.number().int(),
  beat: z.number().int(),
  beatAtMs: z.number(),
  /** The file's own inode, which differs in a copy. */
  inode: z.string(),
  /** When the file was created, by the clock of its disk. */
  madeAtMs: z.number(),
});

/**
 * A copy has another inode and was created later than its content says. Both are checked because some file systems change inodes at each
 * mount.
 */
const COPIED_AFTER_MS = 2_000;

export interface StampFile {
  /** Returns the memory of an installation, or null if there is none. */
  read(id: string): Promise<Kept | null>;
  /** Stores the memory. @throws Error if the folder is not writable */
  write(kept: Pick<Kept, "id" | "incarnation" | "beat" | "beatAtMs">): Promise<void>;
}

export function createStampFile(dataDir: string): StampFile {
  const pathOf = (id: string) => join(dataDir, `database-${id}.json`);
  return {
    async read(id) {
      const text = await readFile(pathOf(id), "utf8").catch((error: unknown) => {
        if (Object(error).code === "ENOENT") return null;
        throw error;
      });
      const parsed = text === null ? null : content.safeParse(jsonOf(text));
      if (parsed?.success !== true) return null;
      const { inode, madeAtMs, ...kept } = parsed.data;
      const found = await stat(pathOf(id), { bigint: true });
      const isLater = Number(found.ctimeMs) - madeAtMs > COPIED_AFTER_MS;
      return { ...kept, isCopy: String(found.ino) !== inode && isLater, rememberedSinceMs: null };
    },
    async write(kept) {
      await mkdir(dataDir, { recursive: true, mode: 0o700 });
      // Renamed when it is complete, which changes neither its inode nor its content.
      const unfinished = `${pathOf(kept.id)}.${process.pid}`;
      const file = await open(unfinished, "w");
      try {
        const { ino, mtimeMs } = await file.stat({ bigint: true });
        const own = { inode: String(ino), madeAtMs: Number(mtimeMs) };
        await file.writeFile(JSON.stringify({ ...kept, ...own }));
      } finally {
        await file.close();
      }
      await rename(unfinished, pathOf(kept.id));
    },
  };
}

/** Returns undefined or null for a file that was half written in a crash. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

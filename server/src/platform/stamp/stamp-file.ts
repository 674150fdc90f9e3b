// What this machine remembers of the database: a small file in DATA_DIR, so that a database that went back to an earlier state finds
// somebody who knows better.
import { mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Kept } from "./rules.ts";

const content = z.object({
  id: z.uuid(),
  incarnation: z.number().int(),
  beat: z.number().int(),
  beatAtMs: z.number(),
  /** Of the file itself: a copy has another one. */
  inode: z.string(),
  /** When the file was made, by the clock of the disk it is on. */
  madeAtMs: z.number(),
});

/**
 * A copy has another inode and came to be later than its content says. Some file systems give a file another inode at each
 * mount, so both are asked for.
 */
const COPIED_AFTER_MS = 2_000;

export interface StampFile {
  /** null: this machine remembers nothing of that installation. */
  read(id: string): Promise<Kept | null>;
  /** @throws Error where the folder cannot be written */
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
      // Renamed when it is whole; that changes neither its inode nor what it says.
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

/** What a crash left half written is nothing. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

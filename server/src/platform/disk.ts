// Checks whether there is space to store data, on the disk of the embedded database and by the errors of the database itself.
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Two WAL segments. With less than that PostgreSQL may shut down in the middle of its work. */
const MIN_FREE_BYTES = 32 * 1024 * 1024;
/** How long an error about a full disk counts, because space may have been freed since. */
const REMEMBERED_MS = 60_000;

const appError = { atMs: Number.NEGATIVE_INFINITY };

/** Records that a statement failed because the database's disk is full (SQLSTATE 53100). */
export function recordFullDisk(): void {
  appError.atMs = performance.now();
}

/**
 * Returns whether there is room.
 *
 * @param dataDir the folder of the embedded database, or null for an external PostgreSQL, because its disk cannot be checked
 */
export async function hasRoom(dataDir: string | null): Promise<boolean> {
  if (performance.now() - appError.atMs < REMEMBERED_MS) return false;
  return dataDir === null || hasRoomIn(dataDir);
}

/** Returns whether there is room for a folder that may not exist yet. */
export async function hasRoomBelow(folder: string): Promise<boolean> {
  return existsSync(folder) || dirname(folder) === folder ? hasRoomIn(folder) : hasRoomBelow(dirname(folder));
}

async function hasRoomIn(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= MIN_FREE_BYTES;
}

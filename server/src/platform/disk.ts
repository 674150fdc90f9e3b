// Whether there is room for what is to be stored: on the disk of the embedded database, and by what the database itself says.
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Two segments of PostgreSQL's log: with less than that it may end in the middle of its work. */
const MIN_FREE_BYTES = 32 * 1024 * 1024;
/** A database that said it has no room is believed for so long: somebody may have made some meanwhile. */
const REMEMBERED_MS = 60_000;

const refusal = { atMs: Number.NEGATIVE_INFINITY };

/** A statement failed because the database's disk is full (SQLSTATE 53100). */
export function noteFullDisk(): void {
  refusal.atMs = performance.now();
}

/** @param dataDir of the embedded database; null where PostgreSQL is somebody else's and its disk cannot be looked at */
export async function hasRoom(dataDir: string | null): Promise<boolean> {
  if (performance.now() - refusal.atMs < REMEMBERED_MS) return false;
  return dataDir === null || hasRoomIn(dataDir);
}

/** Of a folder that may not be made yet. */
export async function hasRoomBelow(folder: string): Promise<boolean> {
  return existsSync(folder) || dirname(folder) === folder ? hasRoomIn(folder) : hasRoomBelow(dirname(folder));
}

async function hasRoomIn(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= MIN_FREE_BYTES;
}

// Writes a backup of everything to one file during operation, from one snapshot of the database and table by table.
import { rename, rm } from "node:fs/promises";
import type pg from "pg";
import { now } from "../platform/clock.ts";
import { deriveKey } from "../platform/crypto.ts";
import { BackupFileError, createArchive, type ArchiveWriter, type Manifest } from "./archive.ts";
import {
  beginReading,
  copyOut,
  endReading,
  listSequences,
  listTables,
  readLastMigration,
  readSequence,
  type TableShape,
} from "./queries.ts";

/** Bytes of a table in memory at once. */
const CHUNK_BYTES = 4 * 1024 * 1024;

export interface BackupSource {
  pool: pg.Pool;
  /** The secret that encrypts keys. */
  secret: string;
  version: string;
}

export interface WrittenBackup {
  tables: number;
  rows: number;
}

/** Identifies a secret without revealing it. */
export const fingerprintOf = (secret: string): string =>
  deriveKey(secret, "backup").export().toString("hex").slice(0, 32);

/**
 * Writes a new file, which gets its name only when it is complete.
 * @throws BackupFileError if another backup is or was writing it, or if the disk rejects it, and any error of the database
 */
export async function writeBackup(source: BackupSource, path: string): Promise<WrittenBackup> {
  const client = await source.pool.connect();
  const partial = `${path}.partial`;
  let archive: ArchiveWriter | undefined;
  try {
    await beginReading(client);
    const tables = await listTables(client);
    archive = createArchive(partial, await describe(client, source, tables));
    const rows: Record<string, number> = {};
    for (const table of tables) rows[table.name] = await addTable(client, archive, table);
    await endReading(client);
    await archive.end(rows);
    await rename(partial, path);
    client.release();
    return { tables: tables.length, rows: Object.values(rows).reduce((sum, count) => sum + count, 0) };
  } catch (error) {
    client.release(true);
    await archive?.abort();
    if ((error as { code?: unknown }).code !== "EEXIST") {
      await rm(partial, { force: true });
      throw error;
    }
    throw new BackupFileError(
      `${partial} already exists because another backup is writing it, or one was killed. If none is running, remove it.`,
    );
  }
}

async function describe(
  client: pg.ClientBase,
  source: BackupSource,
  tables: TableShape[],
): Promise<Manifest> {
  const sequences: Manifest["sequences"] = [];
  for (const { table, column, sequence } of await listSequences(client))
    sequences.push({ table, column, next: await readSequence(client, sequence) });
  return {
    format: "postloft-backup-1",
    version: source.version,
    createdAt: now().toISOString(),
    migration: await readLastMigration(client),
    secretFingerprint: fingerprintOf(source.secret),
    tables,
    sequences,
  };
}

/** Adds the rows of a table in chunks. Returns their number. */
async function addTable(client: pg.ClientBase, archive: ArchiveWriter, table: TableShape): Promise<number> {
  const copy = copyOut(client, table);
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    waiting.push(chunk);
    size += chunk.length;
    if (size < CHUNK_BYTES) continue;
    await archive.add(table.name, Buffer.concat(waiting));
    waiting = [];
    size = 0;
  }
  if (size > 0) await archive.add(table.name, Buffer.concat(waiting));
  return copy.rowCount ?? 0;
}

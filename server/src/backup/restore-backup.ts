// Restores a backup into an unused database, completely or not at all. Waiting work is held until a person decides (P13).
import { once } from "node:events";
import { finished } from "node:stream/promises";
import type pg from "pg";
import { migrate, readMigrations, type Migration } from "../platform/database/migrations.ts";
import { LAST_REPLACED } from "../platform/database/replaced-migrations.ts";
import { ASK_TO_HOLD } from "../platform/stamp/stamp.ts";
import { BackupFileError, readArchive, type End, type Manifest } from "./archive.ts";
import {
  addReferences,
  beginLoading,
  copyIn,
  dropReferences,
  emptyTables,
  endReading,
  isUsed,
  listSequences,
  listTables,
  setSequence,
} from "./queries.ts";
import { fingerprintOf } from "./write-backup.ts";

/** The version in backups from before the first release, which is also the version of that release. */
const BEFORE_RELEASES = "0.1.0";

/**
 * Reads the whole file without touching any database.
 * @throws BackupFileError if it is incomplete or from a newer version
 */
export async function checkBackup(path: string): Promise<{ about: Manifest; end: End }> {
  let about: Manifest | undefined;
  const end = await readArchive(path, {
    onManifest: async (reported) => void (about = reported),
    onChunk: async () => undefined,
  });
  if (about === undefined) throw new BackupFileError("This is not a Postloft backup.");
  const newest = (await readMigrations()).at(-1)?.version ?? 0;
  if (lastMigrationOf(about) > newest)
    throw new BackupFileError(
      `The backup was made by a newer version (${about.version}). Update this installation first.`,
    );
  return { about, end };
}

/** Returns the number of the last migration that a backup contains. */
function lastMigrationOf({ version, migration }: Manifest): number {
  return version === BEFORE_RELEASES && migration === LAST_REPLACED ? 1 : migration;
}

/**
 * Returns the secret that encrypts the restored keys.
 * @throws BackupFileError if `given` is a different one, or if there is none
 */
export function secretFor(about: Manifest, input: string | undefined): string {
  const secret = input ?? about.secret ?? null;
  if (secret === null)
    throw new BackupFileError(
      "The backup does not contain the secret for its keys. Put the file with the ending .app-secret next to it, or set APP_SECRET to the same value.",
    );
  if (fingerprintOf(secret) !== about.secretFingerprint)
    throw new BackupFileError(
      "This backup was made with a different APP_SECRET, so its keys could not be read. Set the same value.",
    );
  return secret;
}

/**
 * Loads a checked backup into an empty database and runs the newest migrations.
 *
 * @param keepSecret called before the commit, so that no rows exist without the secret for their keys
 * @param migrations all known migrations, in order
 * @throws BackupFileError if the database is in use, or if the file changed since the check
 */
export async function restoreBackup(
  pool: pg.Pool,
  path: string,
  { about, end }: { about: Manifest; end: End },
  keepSecret: () => Promise<void> = async () => undefined,
  migrations?: readonly Migration[],
): Promise<void> {
  const known = migrations ?? (await readMigrations());
  const last = lastMigrationOf(about);
  const client = await pool.connect();
  try {
    if (await isUsed(client))
      throw new BackupFileError(
        "The database is in use because it has accounts, or a server runs on it. Restore into an empty one.",
      );
    await migrate(
      pool,
      undefined,
      known.filter(({ version }) => version <= last),
    );
    await beginLoading(client);
    await load(client, path, { about, end });
    await keepSecret();
    await endReading(client);
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  await migrate(pool, undefined, known);
}

async function load(
  client: pg.ClientBase,
  path: string,
  { about, end }: { about: Manifest; end: End },
): Promise<void> {
  const there = new Set((await listTables(client)).map(({ name }) => name));
  const missing = about.tables.find(({ name }) => !there.has(name));
  if (missing !== undefined)
    throw new BackupFileError(`The backup has a table that this version does not know: ${missing.name}`);
  const references = await dropReferences(client);
  await emptyTables(client, about.tables);
  const rows = await loadTables(client, path, about);
  for (const { name } of about.tables)
    if ((rows.get(name) ?? 0) !== (end.rows[name] ?? 0))
      throw new BackupFileError(`The backup is damaged: rows of ${name} are missing.`);
  for (const { table, column, sequence } of await listSequences(client)) {
    const kept = about.sequences.find((one) => one.table === table && one.column === column);
    if (kept !== undefined) await setSequence(client, sequence, kept.next);
  }
  await addReferences(client, references);
  // This is a copy, and the original may have sent the waiting emails.
  await client.query(ASK_TO_HOLD);
}

/** @returns the row count of each table */
async function loadTables(
  client: pg.ClientBase,
  path: string,
  { tables }: Manifest,
): Promise<Map<string, number>> {
  const shapes = new Map(tables.map((table) => [table.name, table]));
  const rows = new Map<string, number>();
  let open: { name: string; into: TableWriter } | null = null;
  const close = async () => {
    if (open === null) return;
    const { name, into } = open;
    open = null;
    rows.set(name, await into.end());
  };
  await readArchive(path, {
    onManifest: async () => undefined,
    async onChunk(name, piece) {
      const shape = shapes.get(name);
      if (shape === undefined || (rows.has(name) && open?.name !== name))
        throw new BackupFileError("The backup is damaged: a table appears in two places.");
      if (open?.name !== name) {
        await close();
        open = { name, into: writeInto(client, shape) };
      }
      await open.into.write(piece);
    },
  });
  await close();
  return rows;
}

interface TableWriter {
  write(piece: Buffer): Promise<void>;
  /** @returns the number of inserted rows */
  end(): Promise<number>;
}

/**
 * Writes the rows of a table. The copy may fail while the next chunk is being read, and the next call then throws that error because the
 * stream itself would crash.
 */
function writeInto(client: pg.ClientBase, table: Manifest["tables"][number]): TableWriter {
  const copy = copyIn(client, table);
  let hasFailed = false;
  const done = finished(copy);
  done.catch(() => void (hasFailed = true));
  return {
    async write(piece) {
      if (hasFailed || !copy.write(piece)) await Promise.race([once(copy, "drain"), done]);
    },
    async end() {
      if (!hasFailed) copy.end();
      await done;
      return copy.rowCount;
    },
  };
}

// The file of a backup: a tar in gzip that says first what it is, then holds each table in pieces, and at its end what must have come.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, pack } from "tar-stream";
import { z } from "zod";

const MANIFEST = "manifest.json";
const END = "end.json";
const TABLE = /^tables\/([a-z_]+)\/\d+\.copy$/;
const MAX_JSON_BYTES = 1024 * 1024;
/** Quick enough not to be what takes the time; copies of tables shrink well. */
const GZIP_LEVEL = 4;

const manifest = z.object({
  format: z.literal("postloft-backup-1"),
  /** Of the program that made it. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  /** The number of the last change of the database's shape that it has. */
  migration: z.int(),
  /** Tells whether an APP_SECRET is the one its keys are sealed with. */
  secretFingerprint: z.string(),
  /** Only in files of former versions: the secret itself. */
  secret: z.string().nullish(),
  tables: z.array(z.object({ name: z.string().regex(/^[a-z_]+$/), columns: z.array(z.string()) })),
  /** Where identity columns go on. */
  sequences: z.array(z.object({ table: z.string(), column: z.string(), next: z.string() })),
});
export type Manifest = z.infer<typeof manifest>;

const end = z.object({
  rows: z.record(z.string(), z.int()),
  /** Of the bytes of all tables in the order of the file. */
  sha256: z.string(),
});
export type End = z.infer<typeof end>;

export class BackupFileError extends Error {
  override name = "BackupFileError";
}

export interface ArchiveWriter {
  /** A piece of a table; resolves when there is room for the next. */
  add(table: string, piece: Buffer): Promise<void>;
  /** Closes the file, on the disk. @param rows of each table */
  end(rows: Record<string, number>): Promise<void>;
  /** Ends without an end: the file is of no use. */
  abort(): Promise<void>;
}

/**
 * Makes a new file that only its owner may read. What it gives rejects with an Error of code EEXIST where there is one, and with
 * BackupFileError where it cannot be written.
 */
export function createArchive(path: string, about: Manifest): ArchiveWriter {
  const tar = pack();
  const file = createWriteStream(path, { flags: "wx", mode: 0o600, flush: true });
  const written = pipeline(tar, createGzip({ level: GZIP_LEVEL }), file).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === "EEXIST" ? error : new BackupFileError(`${path} cannot be written: ${message}`);
  });
  written.catch(() => undefined);
  const hash = createHash("sha256");
  let pieces = 0;
  const entry = async (name: string, bytes: Buffer | string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    try {
      const part = tar.entry({ name, mode: 0o600 }, bytes, (error) => (error ? reject(error) : resolve()));
      // Also of an entry that was taken: it hears of a file that fails before the next one does.
      part.on("error", reject);
      await Promise.race([promise, written]);
    } catch (error) {
      // Where the file cannot be written, that is why nobody takes the entry any more.
      await written;
      throw error;
    }
  };
  const begun = entry(MANIFEST, JSON.stringify(about, null, 2));
  begun.catch(() => undefined);
  return {
    async add(table, piece) {
      await begun;
      hash.update(piece);
      await entry(`tables/${table}/${String(++pieces).padStart(6, "0")}.copy`, piece);
    },
    async end(rows) {
      await begun;
      await entry(END, JSON.stringify({ rows, sha256: hash.digest("hex") }, null, 2));
      tar.finalize();
      await written;
    },
    async abort() {
      tar.destroy();
      await written.catch(() => undefined);
    },
  };
}

export interface ArchiveReader {
  onManifest(about: Manifest): Promise<void>;
  /** The next piece of a table; those of one table come one after the other. */
  onPiece(table: string, piece: Buffer): Promise<void>;
}

/** Reads a file from its beginning to its end. @throws BackupFileError when it is none, was cut off, or was changed */
export async function readArchive(path: string, reader: ArchiveReader): Promise<End> {
  const tar = extract();
  const source = createReadStream(path);
  const read = pipeline(source, createGunzip(), tar);
  read.catch(() => undefined);
  const hash = createHash("sha256");
  let hasBegun = false;
  let ending: End | undefined;
  try {
    for await (const part of tar) {
      const { name } = part.header;
      const table = TABLE.exec(name)?.[1];
      if (name === MANIFEST && !hasBegun) {
        hasBegun = true;
        await reader.onManifest(parseJson(manifest, await bytesOf(part, MAX_JSON_BYTES)));
      } else if (!hasBegun) throw new BackupFileError("This is no backup of Postloft.");
      else if (name === END) ending = parseJson(end, await bytesOf(part, MAX_JSON_BYTES));
      else if (table !== undefined) {
        const piece = await bytesOf(part);
        hash.update(piece);
        await reader.onPiece(table, piece);
      } else throw new BackupFileError(`The backup holds something unknown: ${name}`);
    }
    await read;
  } catch (error) {
    throw explain(error);
  } finally {
    source.destroy();
  }
  if (ending === undefined) throw new BackupFileError("The backup was cut off: its end is missing.");
  if (ending.sha256 !== hash.digest("hex"))
    throw new BackupFileError("The backup was changed or is damaged.");
  return ending;
}

async function bytesOf(part: AsyncIterable<unknown>, most = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of part as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) throw new BackupFileError("The backup is damaged.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson<T>(schema: z.ZodType<T>, bytes: Buffer): T {
  const parsed = schema.safeParse(JSON.parse(bytes.toString("utf8")));
  if (!parsed.success)
    throw new BackupFileError("This is no backup of Postloft, or one of another version's form.");
  return parsed.data;
}

function explain(error: unknown): unknown {
  const code = String((error as { code?: unknown }).code ?? "");
  if (code === "ENOENT") return new BackupFileError("There is no such file.");
  if (
    code.startsWith("Z_") ||
    error instanceof SyntaxError ||
    /tar header|Unexpected end/.test(String(error))
  )
    return new BackupFileError("This is no backup of Postloft, or it was cut off or damaged.");
  return error;
}

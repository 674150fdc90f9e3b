// Reads and writes the file of a backup. It is a gzipped tar with a manifest, the tables in chunks, and a checksum at the end.
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
/** Fast enough not to be the bottleneck. Table copies compress well. */
const GZIP_LEVEL = 4;

const manifest = z.object({
  format: z.literal("postloft-backup-1"),
  /** Version of the program that wrote it. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  /** Number of the last applied migration. */
  migration: z.int(),
  /** Identifies the APP_SECRET that encrypts its keys. */
  secretFingerprint: z.string(),
  /** The secret itself, only in files of earlier versions. */
  secret: z.string().nullish(),
  tables: z.array(z.object({ name: z.string().regex(/^[a-z_]+$/), columns: z.array(z.string()) })),
  /** Next values of identity columns. */
  sequences: z.array(z.object({ table: z.string(), column: z.string(), next: z.string() })),
});
export type Manifest = z.infer<typeof manifest>;

const end = z.object({
  rows: z.record(z.string(), z.int()),
  /** Digest of the bytes of all tables, in file order. */
  sha256: z.string(),
});
export type End = z.infer<typeof end>;

export class BackupFileError extends Error {
  override name = "BackupFileError";
}

export interface ArchiveWriter {
  /** Adds a chunk of a table. Resolves when there is room for the next one. */
  add(table: string, piece: Buffer): Promise<void>;
  /**
   * Closes the file and flushes it to disk.
   * @param rows row count of each table
   */
  end(rows: Record<string, number>): Promise<void>;
  /** Closes the file without an end, which makes it useless. */
  abort(): Promise<void>;
}

/**
 * Creates a new file that only its owner can read. Its methods reject with an Error of code EEXIST if the file exists, and with
 * BackupFileError if it cannot be written.
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
      // Stays registered after the entry is written, because it may report a file error before the next entry does.
      part.on("error", reject);
      await Promise.race([promise, written]);
    } catch (error) {
      // If the file cannot be written, that error is the cause.
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
  /** Called with the next chunk. The chunks of one table are consecutive. */
  onChunk(table: string, piece: Buffer): Promise<void>;
}

/**
 * Reads a file completely.
 * @throws BackupFileError if it is invalid, truncated or modified
 */
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
      } else if (!hasBegun) throw new BackupFileError("This is not a Postloft backup.");
      else if (name === END) ending = parseJson(end, await bytesOf(part, MAX_JSON_BYTES));
      else if (table !== undefined) {
        const piece = await bytesOf(part);
        hash.update(piece);
        await reader.onChunk(table, piece);
      } else throw new BackupFileError(`The backup contains an unknown entry: ${name}`);
    }
    await read;
  } catch (error) {
    throw explain(error);
  } finally {
    source.destroy();
  }
  if (ending === undefined) throw new BackupFileError("The backup is incomplete because its end is missing.");
  if (ending.sha256 !== hash.digest("hex"))
    throw new BackupFileError("The backup was modified or is damaged.");
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
    throw new BackupFileError("This is not a Postloft backup, or it has the format of another version.");
  return parsed.data;
}

function explain(error: unknown): unknown {
  const code = String((error as { code?: unknown }).code ?? "");
  if (code === "ENOENT") return new BackupFileError("The file does not exist.");
  if (
    code.startsWith("Z_") ||
    error instanceof SyntaxError ||
    /tar header|Unexpected end/.test(String(error))
  )
    return new BackupFileError("This is not a Postloft backup, or it is incomplete or damaged.");
  return error;
}

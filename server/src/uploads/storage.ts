// Where the files of images are: on disk or in S3, behind one contract. Which of the two is one setting.
// Before it: api.ts has the settings. After it: disk-storage.ts, s3-storage.ts.
import { resolve, join } from "node:path";
import type { Readable } from "node:stream";
import type { ImageType } from "@postloft/contract/uploads.ts";
import type { Config } from "../platform/config.ts";
import { createDiskStorage } from "./disk-storage.ts";
import type { FileName } from "./rules.ts";

export interface OpenedFile {
  bytes: number;
  stream: Readable;
}

export interface StoredFile {
  /** As `pathOf` makes it, or what else lies there. */
  path: string;
  writtenAt: Date;
}

/** Every function throws what the disk or the server says when it cannot. */
export interface Storage {
  /** It is durable, and whole or not there, when this resolves. */
  write(name: FileName, bytes: Buffer, type: ImageType): Promise<void>;
  /** null: there is no such file. Whoever opens it reads the stream or destroys it. */
  open(name: FileName): Promise<OpenedFile | null>;
  has(name: FileName): Promise<boolean>;
  /** What is not there is no fault. */
  remove(path: string): Promise<void>;
  /** All files, some at a time. */
  list(): AsyncIterable<StoredFile>;
}

export type StorageSettings = Pick<
  Config,
  | "DATA_DIR"
  | "S3_BUCKET"
  | "S3_ENDPOINT"
  | "S3_REGION"
  | "S3_ACCESS_KEY_ID"
  | "S3_ACCESS_KEY_SECRET"
  | "S3_FORCE_PATH_STYLE"
>;

const FOLDER = "uploads";

/** S3 where a bucket is named, else the folder `uploads` of DATA_DIR. */
export async function createStorage(settings: StorageSettings): Promise<Storage> {
  const { S3_BUCKET, S3_ACCESS_KEY_ID = "", S3_ACCESS_KEY_SECRET = "" } = settings;
  if (S3_BUCKET === undefined) return createDiskStorage(join(resolve(settings.DATA_DIR), FOLDER));
  // Loaded where it is used.
  const { createS3Storage } = await import("./s3-storage.ts");
  return createS3Storage({
    bucket: S3_BUCKET,
    endpoint: settings.S3_ENDPOINT ?? null,
    region: settings.S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID,
    secretAccessKey: S3_ACCESS_KEY_SECRET,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
  });
}

/** What is wrong with the settings of S3, for the start. */
export function faultsOfStorage(settings: Partial<StorageSettings>): string[] {
  if (settings.S3_BUCKET === undefined) return [];
  return (["S3_ACCESS_KEY_ID", "S3_ACCESS_KEY_SECRET"] as const)
    .filter((name) => settings[name] === undefined)
    .map((name) => `${name}: required with S3_BUCKET`);
}

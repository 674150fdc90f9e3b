// Creates the storage of image files, on disk or in S3, depending on one setting.
import { resolve, join } from "node:path";
import type { Config } from "../platform/settings/config.ts";
import { createDiskStorage } from "./disk-storage.ts";
import type { Storage } from "./stored-files.ts";

export type { OpenedFile, Storage, StoredFile } from "./stored-files.ts";

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

/** Uses S3 if a bucket is set, or else the folder `uploads` in DATA_DIR. */
export async function createStorage(settings: StorageSettings): Promise<Storage> {
  const { S3_BUCKET, S3_ACCESS_KEY_ID = "", S3_ACCESS_KEY_SECRET = "" } = settings;
  if (S3_BUCKET === undefined) return createDiskStorage(join(resolve(settings.DATA_DIR), FOLDER));
  // Loaded only if used.
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

/** Returns the errors in the S3 settings, for the start. */
export function faultsOfStorage(settings: Partial<StorageSettings>): string[] {
  if (settings.S3_BUCKET === undefined) return [];
  return (["S3_ACCESS_KEY_ID", "S3_ACCESS_KEY_SECRET"] as const)
    .filter((name) => settings[name] === undefined)
    .map((name) => `${name}: required with S3_BUCKET`);
}

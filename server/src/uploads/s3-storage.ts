// Stores image files in an S3 bucket or a compatible server. Files are served through this program with its headers, and the bucket stays
// private.
import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { pathOf } from "./rules.ts";
import type { Storage, StoredFile } from "./stored-files.ts";

export interface S3Options {
  bucket: string;
  /** Null means Amazon's own endpoint. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Whether the bucket is in the path instead of the host name. */
  forcePathStyle: boolean;
}

/** The prefix of our files. The rest of the bucket is not touched. */
const PREFIX = "uploads/";
const CONNECT_MS = 3_000;
const REQUEST_MS = 15_000;
const TRIES = 2;
/** Error names of GET and HEAD for a missing file. A missing bucket is a failure. */
const NOT_FOUND: ReadonlySet<string> = new Set(["NoSuchKey", "NotFound"]);

export function createS3Storage(options: S3Options): Storage {
  const { bucket: Bucket, endpoint, region, accessKeyId, secretAccessKey, forcePathStyle } = options;
  const client = new S3Client({
    ...(endpoint === null ? {} : { endpoint }),
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle,
    maxAttempts: TRIES,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS },
    // Servers other than Amazon's do not support these.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const at = (path: string) => ({ Bucket, Key: PREFIX + path });
  return {
    async write(name, bytes, type) {
      await client.send(new PutObjectCommand({ ...at(pathOf(name)), Body: bytes, ContentType: type }));
    },
    async open(name) {
      const found = await orNull(client.send(new GetObjectCommand(at(pathOf(name)))));
      if (found?.Body === undefined) return null;
      return { bytes: found.ContentLength ?? 0, stream: found.Body as Readable };
    },
    async has(name) {
      return (await orNull(client.send(new HeadObjectCommand(at(pathOf(name)))))) !== null;
    },
    async remove(path) {
      await client.send(new DeleteObjectCommand(at(path)));
    },
    list: () => walk(client, Bucket),
  };
}

async function* walk(client: S3Client, Bucket: string): AsyncGenerator<StoredFile> {
  for (let token: string | undefined; ;) {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket,
        Prefix: PREFIX,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    for (const { Key, LastModified } of page.Contents ?? [])
      if (Key !== undefined && LastModified !== undefined)
        yield { path: Key.slice(PREFIX.length), writtenAt: LastModified };
    if (page.NextContinuationToken === undefined) return;
    token = page.NextContinuationToken;
  }
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (error instanceof S3ServiceException && NOT_FOUND.has(error.name)) return null;
    throw error;
  });
}

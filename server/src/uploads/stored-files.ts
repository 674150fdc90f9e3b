// The interface of a storage for image files.
import type { Readable } from "node:stream";
import type { ImageType } from "@postloft/contract/uploads.ts";
import type { FileName } from "./rules.ts";

export interface OpenedFile {
  bytes: number;
  stream: Readable;
}

export interface StoredFile {
  /** A path from `pathOf`, or of any other file there. */
  path: string;
  writtenAt: Date;
}

/** Every method throws the error of the disk or the server. */
export interface Storage {
  /** Resolves when the file is durable. Files are never partly visible. */
  write(name: FileName, bytes: Buffer, type: ImageType): Promise<void>;
  /** Returns null if the file does not exist. The caller must read or destroy the stream. */
  open(name: FileName): Promise<OpenedFile | null>;
  has(name: FileName): Promise<boolean>;
  /** Does nothing if the file does not exist. */
  remove(path: string): Promise<void>;
  /** Yields all files, in pages. */
  list(): AsyncIterable<StoredFile>;
}

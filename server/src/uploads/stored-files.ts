// The contract of a place where files of images are.
import type { Readable } from "node:stream";
import type { ImageType } from "@postloft/contract/uploads.ts";
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

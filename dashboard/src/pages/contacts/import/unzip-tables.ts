// Reads the CSV files out of a ZIP, such as Mailchimp's export of an audience.
import { Unzip, UnzipInflate, UnzipPassThrough, type UnzipFile } from "fflate";
import { createYield } from "./take-turns.ts";

/** Why a ZIP can't be imported. */
export type ZipProblem = "workbook" | "noTable" | "manyFiles" | "large" | "damaged";
export type Unzipped = { files: ZippedFile[]; problem?: never } | { files?: never; problem: ZipProblem };

interface ZippedFile {
  name: string;
  bytes: Uint8Array;
}

/** Mailchimp's export has four. */
export const ZIP_FILES_MAX = 20;
/** Archives contain other files too, such as a note or folders. */
const ENTRIES_MAX = 100;
/** A part of this size inflates to at most 16 MB, because deflate shrinks at most by 1,032. */
const PUSHED_BYTES = 16 * 1024;
const TABLE_NAME = /\.(?:csv|tsv|txt)$/i;
/** macOS adds hidden copies. */
const HIDDEN = /(?:^|\/)(?:\.|__MACOSX\/)/;
const WORKBOOK_PART = /^(?:xl|\[Content_Types\]\.xml$)/;

/** Stops the reading. */
class ZipError extends Error {
  readonly problem: ZipProblem;
  constructor(problem: ZipProblem) {
    super(problem);
    this.problem = problem;
  }
}

/**
 * Returns the CSV files of a ZIP in order, or why there are none.
 * @param mostBytes limit for all files together. Reading stops there, regardless of the sizes the ZIP claims.
 */
export async function unzipTables(bytes: Uint8Array, mostBytes: number): Promise<Unzipped> {
  const taking = takeFiles(mostBytes);
  const unzip = new Unzip(taking.takeFile);
  unzip.register(UnzipInflate);
  unzip.register(UnzipPassThrough);
  const turn = createYield();
  try {
    for (let at = 0; at < bytes.length; at += PUSHED_BYTES) {
      unzip.push(bytes.subarray(at, at + PUSHED_BYTES), at + PUSHED_BYTES >= bytes.length);
      await turn();
    }
    return { files: taking.files() };
  } catch (error) {
    // The library throws another error for files that are no ZIP, truncated or encrypted.
    return { problem: error instanceof ZipError ? error.problem : "damaged" };
  }
}

interface OpenFile {
  name: string;
  parts: Uint8Array[];
  isWhole: boolean;
}

function takeFiles(mostBytes: number): { takeFile: (file: UnzipFile) => void; files: () => ZippedFile[] } {
  const open: OpenFile[] = [];
  let entries = 0;
  let size = 0;
  let isWorkbook = false;
  return {
    takeFile(file) {
      entries++;
      if (entries > ENTRIES_MAX) throw new ZipError("manyFiles");
      isWorkbook ||= WORKBOOK_PART.test(file.name);
      if (!TABLE_NAME.test(file.name) || HIDDEN.test(file.name)) return;
      if (open.length === ZIP_FILES_MAX) throw new ZipError("manyFiles");
      const taken: OpenFile = { name: file.name.split("/").at(-1) ?? file.name, parts: [], isWhole: false };
      open.push(taken);
      file.ondata = (error, part, isLast) => {
        if (error !== null) throw error;
        size += part.length;
        if (size > mostBytes) throw new ZipError("large");
        taken.parts.push(part);
        taken.isWhole = isLast;
      };
      file.start();
    },
    files() {
      if (open.some(({ isWhole }) => !isWhole)) throw new ZipError("damaged");
      if (open.length === 0)
        throw new ZipError(isWorkbook ? "workbook" : entries > 0 ? "noTable" : "damaged");
      return open.map(({ name, parts }) => ({ name, bytes: joined(parts) }));
    },
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

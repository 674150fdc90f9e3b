// Names of stored images: in addresses, on disk, and as a browser saves them. Pure.
import { randomBytes } from "node:crypto";
import type { ImageType } from "@postloft/contract/uploads.ts";

/** One file: whose, and its name below the project. */
export interface FileName {
  projectId: string;
  /** 128 random bits in hexadecimal, and an ending. */
  file: string;
}

export const ENDINGS: Readonly<Record<ImageType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const FILE = "[0-9a-f]{32}\\.(?:png|jpg|gif|webp)";
const KEY = new RegExp(`^([0-9a-f]{32})(${FILE})$`);
/** Below a project; `.part` while it is written. */
const STORED = new RegExp(`^([0-9a-f]{32})/(${FILE})(\\.part)?$`);
const RANDOM_BYTES = 16;
const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
/** What stands in a stored name while the file is not whole. */
export const UNFINISHED = ".part";

const hexOf = (projectId: string) => projectId.replaceAll("-", "");
const uuidOf = (hex: string) => hex.replace(UUID_PARTS, "$1-$2-$3-$4-$5");

/** A name that nobody can guess. */
export function newFile(type: ImageType): string {
  return `${randomBytes(RANDOM_BYTES).toString("hex")}.${ENDINGS[type]}`;
}

/** As it stands in the address of an image: the project and the file, without anything a path could be climbed with. */
export function keyOf({ projectId, file }: FileName): string {
  return `${hexOf(projectId)}${file}`;
}

/** null: nobody handed out such a key. */
export function readKey(key: string): FileName | null {
  const [, hex, file] = KEY.exec(key) ?? [];
  return hex === undefined || file === undefined ? null : { projectId: uuidOf(hex), file };
}

/** The path of an image that the project stores here, by its address; null: it is somewhere else. */
export function ownImagePath(projectId: string, url: string): string | null {
  const [, key = ""] = /\/images\/([0-9a-z.]+)$/.exec(URL.parse(url)?.pathname ?? "") ?? [];
  return readKey(key)?.projectId === projectId ? `/images/${key}` : null;
}

/** What the keys of a project's images begin with. */
export function keyStart(projectId: string): string {
  return hexOf(projectId);
}

/** Where a file is, below the place of all of them. */
export function pathOf({ projectId, file }: FileName): string {
  return `${hexOf(projectId)}/${file}`;
}

/** What a path below that place stands for; null: none of ours. */
export function readPath(path: string): (FileName & { isFinished: boolean }) | null {
  const [, hex, file, unfinished] = STORED.exec(path) ?? [];
  if (hex === undefined || file === undefined) return null;
  return { projectId: uuidOf(hex), file, isFinished: unfinished === undefined };
}

const LONGEST_NAME = 255;
const DEFAULT_NAME = "image";

/** The name of an upload, as it is shown: without folders and control characters. */
export function shownName(name: string | null): string {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is dropped
  const cleaned = last.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "");
  return [...cleaned.trim()].slice(0, LONGEST_NAME).join("") || DEFAULT_NAME;
}

/** The name under which a browser saves it: letters and digits of ASCII, and the ending of what it is. */
export function savedName(name: string, type: ImageType): string {
  const stem = name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_-]+/g, "-");
  return `${stem.replace(/^-+|-+$/g, "").slice(0, 100) || DEFAULT_NAME}.${ENDINGS[type]}`;
}

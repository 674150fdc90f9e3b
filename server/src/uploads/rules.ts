// Names of stored images in URLs, on disk, and in browser downloads. Pure.
import { randomBytes } from "node:crypto";
import type { ImageType } from "@postloft/contract/uploads.ts";

/** The project and the name of one file. */
export interface FileName {
  projectId: string;
  /** 128 random bits in hexadecimal, and an extension. */
  file: string;
}

const ENDINGS: Readonly<Record<ImageType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const FILE = "[0-9a-f]{32}\\.(?:png|jpg|gif|webp)";
const KEY = new RegExp(`^([0-9a-f]{32})(${FILE})$`);
/** Relative to the root folder. `.part` while it is being written. */
const STORED = new RegExp(`^([0-9a-f]{32})/(${FILE})(\\.part)?$`);
const RANDOM_BYTES = 16;
const UUID_PARTS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
/** Suffix of incomplete files. */
export const UNFINISHED = ".part";

const hexOf = (projectId: string) => projectId.replaceAll("-", "");
const uuidOf = (hex: string) => hex.replace(UUID_PARTS, "$1-$2-$3-$4-$5");

/** Returns an unguessable name. */
export function newFile(type: ImageType): string {
  return `${randomBytes(RANDOM_BYTES).toString("hex")}.${ENDINGS[type]}`;
}

/** Returns the key in an image URL, made of project and file. It contains no characters that allow path traversal. */
export function keyOf({ projectId, file }: FileName): string {
  return `${hexOf(projectId)}${file}`;
}

/** Returns null for an invalid key. */
export function readKey(key: string): FileName | null {
  const [, hex, file] = KEY.exec(key) ?? [];
  return hex === undefined || file === undefined ? null : { projectId: uuidOf(hex), file };
}

/** Returns the path of an image stored by the project, given its URL. Null for other URLs. */
export function ownImagePath(projectId: string, url: string): string | null {
  const [, key = ""] = /\/images\/([0-9a-z.]+)$/.exec(URL.parse(url)?.pathname ?? "") ?? [];
  return readKey(key)?.projectId === projectId ? `/images/${key}` : null;
}

/** Returns the key prefix of a project's images. */
export function keyStart(projectId: string): string {
  return hexOf(projectId);
}

/** Returns the path of a file, relative to the root folder. */
export function pathOf({ projectId, file }: FileName): string {
  return `${hexOf(projectId)}/${file}`;
}

/** Parses a path relative to the root folder. Null if it is not an image file. */
export function readPath(path: string): (FileName & { isFinished: boolean }) | null {
  const [, hex, file, unfinished] = STORED.exec(path) ?? [];
  if (hex === undefined || file === undefined) return null;
  return { projectId: uuidOf(hex), file, isFinished: unfinished === undefined };
}

const LONGEST_NAME = 255;
const DEFAULT_NAME = "image";

/** Returns the display name of an upload, without folders and control characters. */
export function shownName(name: string | null): string {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is dropped
  const cleaned = last.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "");
  return [...cleaned.trim()].slice(0, LONGEST_NAME).join("") || DEFAULT_NAME;
}

/** Returns the name for downloads: ASCII letters and digits, and the extension of the real type. */
export function savedName(name: string, type: ImageType): string {
  const stem = name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_-]+/g, "-");
  return `${stem.replace(/^-+|-+$/g, "").slice(0, 100) || DEFAULT_NAME}.${ENDINGS[type]}`;
}

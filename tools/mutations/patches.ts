// Reads the list of mutations: one-line mistakes, each with its consequence and the tests that must notice it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT: string = join(import.meta.dirname, "../..");

/** The six groups of docs/testing.md, in its order, and one for all other mistakes. */
export const GROUPS = [
  "locks",
  "second time",
  "steps",
  "waits",
  "states",
  "files and headers",
  "values",
] as const;

/** A mistake in one line. */
export interface Patch {
  group: (typeof GROUPS)[number];
  file: string;
  /** Text of one line that occurs once in the file. */
  find: string;
  replace: string;
  /** The consequence for users if no test notices the mistake. */
  reason: string;
  /** Test files, as paths from the root. */
  tests: string[];
  /** Why the mistake changes nothing that anyone could notice. Such a patch is listed but not run. */
  equivalent?: string;
}

/** Returns the list in tools/mutations/patches.json. */
export function readPatches(): Patch[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "patches.json"), "utf8")) as Patch[];
}

/** Returns the folder by which results are grouped, such as `server/src/billing`. */
export function folderOf({ file }: Patch): string {
  const parts = file.split("/").slice(0, -1);
  return parts.slice(0, parts[0] === "server" ? 3 : 2).join("/");
}

/**
 * Returns the text with the mistake.
 * @throws Error if the line does not occur exactly once
 */
export function applyPatch(text: string, { file, find, replace }: Patch): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`"${find}" occurs ${parts.length - 1} times in ${file}. Choose text that occurs once.`);
  return parts.join(replace);
}

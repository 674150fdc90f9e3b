// The repository as seen by the house rules: all of its files, with sources parsed on first use.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { parseSource, type SourceFile } from "./source.ts";

export interface Tree {
  /** Text by path from the root, with forward slashes; empty for files that no rule reads, such as images. */
  texts: ReadonlyMap<string, string>;
  /** All folders that contain one of these files at any depth. */
  folders: ReadonlySet<string>;
  /** Code files, sorted by path. */
  sources: readonly SourceFile[];
}

/** A violation of a rule. The message suggests an alternative. */
export interface Finding {
  path: string;
  /** Counted from 1; absent if the finding concerns the whole file. */
  line?: number;
  message: string;
}

export interface Rule {
  /** The rule as a promise, used as the test title. */
  name: string;
  check(tree: Tree): Finding[];
}

/** Numbers that may only shrink, by rule. */
export const RATCHET_PATH = "tools/tidy/ratchet.json";

const SOURCE_EXTENSIONS = new Set([".ts", ".tsx", ".js", ".mjs", ".jsx"]);
const READ_EXTENSIONS = new Set([...SOURCE_EXTENSIONS, ".sql", ".css", ".md", ".yaml", ".yml"]);
/** Data files that rules read. */
const READ_NAMES = /(^|\/)(tsconfig[^/]*|package|ratchet)\.json$/;
/** The only hidden folder that belongs to a repository; others belong to editors and tools. */
const SHOWN_HIDDEN_FOLDER = ".github";

/** Creates a tree from texts by path. */
export function createTree(textByPath: Readonly<Record<string, string>>): Tree {
  const texts = new Map(Object.entries(textByPath).sort(([a], [b]) => (a < b ? -1 : 1)));
  const folders = new Set<string>();
  for (const path of texts.keys()) {
    for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder))
      folders.add(folder);
  }
  const sources = [...texts].flatMap(([path, text]) =>
    SOURCE_EXTENSIONS.has(extname(path)) ? [parseSource(path, text)] : [],
  );
  return { texts, folders, sources };
}

/**
 * Reads the repository below `root` (absolute): the files on disk except those in the root's .gitignore. Does not use git, which may be
 * missing or refuse a checkout owned by another account.
 */
export function readTree(root: string): Tree {
  const ignored = ignorePatternsOf(readFileSync(join(root, ".gitignore"), "utf8"));
  const textByPath: Record<string, string> = {};
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (ignored.some((pattern) => pattern.test(path))) continue;
      if (entry.isDirectory()) {
        if (!entry.name.startsWith(".") || entry.name === SHOWN_HIDDEN_FOLDER) pending.push(path);
      } else if (entry.isFile()) {
        const isRead = READ_EXTENSIONS.has(extname(path)) || READ_NAMES.test(path);
        textByPath[path] = isRead ? readFileSync(join(root, path), "utf8") : "";
      }
    }
  }
  return createTree(textByPath);
}

/** Returns `path:line message`, which editors and terminals turn into a link. */
export function describeFinding(finding: Finding): string {
  const place = finding.line === undefined ? finding.path : `${finding.path}:${finding.line}`;
  return `${place} ${finding.message}`;
}

/** Returns whether a path is a test or test support: `*.test.ts`, e2e, or folders named test or testing. */
export function isTest(path: string): boolean {
  return /\.test\.[a-z]+$|^e2e\/|(^|\/)test(ing)?\//.test(path);
}

/** Returns whether the first line says that the file is generated. */
export function isGenerated(text: string): boolean {
  return /^(\/\/|--) Generated\b/.test(text);
}

/** Returns the patterns of a .gitignore, which match whole paths and everything below. Exceptions (`!`) are not supported. */
function ignorePatternsOf(gitignore: string): RegExp[] {
  const lines = gitignore.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      if (line.startsWith("!"))
        throw new Error(`.gitignore: tidy does not understand the exception "${line}".`);
      const name = line.replace(/\/$/, "");
      const body = name
        .replace(/^\//, "")
        .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
        .replaceAll(/\*+/g, (stars) => (stars.length > 1 ? ".*" : "[^/]*"))
        .replaceAll("?", "[^/]");
      return new RegExp(`${name.includes("/") ? "^" : "(^|/)"}${body}(/|$)`);
    });
}

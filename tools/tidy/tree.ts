// The repository as the house rules see it: every file that belongs to it, with source files parsed on first use.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { parseSource, type SourceFile } from "./source.ts";

export interface Tree {
  /** Path from the root with forward slashes → text; empty for files that no rule reads, such as images. */
  texts: ReadonlyMap<string, string>;
  /** Every folder that holds one of these files, at any depth. */
  folders: ReadonlySet<string>;
  /** The files that are code, sorted by path. */
  sources: readonly SourceFile[];
}

/** One broken rule in one place. The message says what to do instead. */
export interface Finding {
  path: string;
  /** Counted from 1; absent when the finding is about the whole file. */
  line?: number;
  message: string;
}

export interface Rule {
  /** The rule as a promise: it titles the test. */
  name: string;
  check(tree: Tree): Finding[];
}

const SOURCE_EXTENSIONS = new Set([".ts", ".tsx", ".js", ".mjs", ".jsx"]);
const READ_EXTENSIONS = new Set([...SOURCE_EXTENSIONS, ".sql", ".css", ".md", ".yaml", ".yml"]);
/** Read although their extension is mostly that of data. */
const READ_NAMES = /(^|\/)(tsconfig[^/]*|package|ratchet)\.json$/;
/** The one hidden folder that belongs to a repository; editors and tools keep their own in the others. */
const SHOWN_HIDDEN_FOLDER = ".github";

/** A tree made of the given texts, by path. */
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
 * Reads the repository below `root` (absolute): what lies on the disk without what the root's .gitignore names. It asks
 * no git, which need not be installed where the tests run and may refuse a checkout that another account owns.
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

/** `path:line message`, as editors and terminals link it. */
export function describeFinding(finding: Finding): string {
  const place = finding.line === undefined ? finding.path : `${finding.path}:${finding.line}`;
  return `${place} ${finding.message}`;
}

/** Tests and their support, which may do what code may not: `*.test.ts`, all of e2e, folders named test or testing. */
export function isTest(path: string): boolean {
  return /\.test\.[a-z]+$|^e2e\/|(^|\/)test(ing)?\//.test(path);
}

/** Whether a generator wrote the file and says so in its first line. */
export function isGenerated(text: string): boolean {
  return /^(\/\/|--) Generated\b/.test(text);
}

/** The patterns of a .gitignore, for whole paths and everything below them. Exceptions (`!`) are not understood. */
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

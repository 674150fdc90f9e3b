// Compares documents with the tree: the map in the README and every link to a file.
import { posix } from "node:path";
import type { Finding, Rule, Tree } from "./tree.ts";

const MAP_PATH = "ARCHITECTURE.md";
const MAP_HEADING = "## The map";
const SERVER = "server/src";

interface DocumentLine {
  text: string;
  /** Counted from 1. */
  line: number;
  isFenced: boolean;
}

export const treeMap: Rule = {
  name: `the map in ${MAP_PATH} is equal to the disk`,
  check: (tree) => {
    const document = tree.texts.get(MAP_PATH);
    if (document === undefined)
      return [{ path: MAP_PATH, message: "is missing. Write it, with the map of the tree." }];
    const map = mapOf(document);
    if (map.length === 0) {
      const message = `has no map. Write a fenced block under the heading "${MAP_HEADING}"; each line begins with a path.`;
      return [{ path: MAP_PATH, message }];
    }
    const listed = new Set(map.map(({ path }) => path));
    const gone = map
      .filter(({ path }) => !exists(tree, path))
      .map(({ path, line }) => ({
        path: MAP_PATH,
        line,
        message: `lists ${path}, which does not exist. Each line of the map begins with a path.`,
      }));
    const unlisted = [...tree.folders]
      .filter((folder) => (!folder.includes("/") || posix.dirname(folder) === SERVER) && !listed.has(folder))
      .map((folder) => ({
        path: MAP_PATH,
        message: `does not list ${folder}/. Add a line to "${MAP_HEADING}" that says what it is for.`,
      }));
    return [...gone, ...unlisted];
  },
};

export const links: Rule = {
  name: "every link from a document to a file leads to an existing file",
  check: (tree) =>
    [...tree.texts]
      .filter(([path]) => path.endsWith(".md"))
      .flatMap(([path, text]) =>
        linksOf(text).flatMap(({ target, line }): Finding[] => {
          const file = target.startsWith("/") ? target.slice(1) : posix.join(posix.dirname(path), target);
          if (exists(tree, file.replace(/\/$/, ""))) return [];
          return [
            { path, line, message: `links to ${target}, which does not exist. Link to its current path.` },
          ];
        }),
      ),
};

function exists(tree: Tree, path: string): boolean {
  return path === "." || tree.texts.has(path) || tree.folders.has(path);
}

/** Returns the first word of each line in the first fenced block below the heading, without a trailing slash. */
function mapOf(readme: string): { path: string; line: number }[] {
  const lines = linesOf(readme);
  const heading = lines.findIndex(({ text, isFenced }) => !isFenced && text.trim() === MAP_HEADING);
  if (heading === -1) return [];
  const below = lines.slice(heading + 1);
  const nextHeading = below.findIndex(({ text, isFenced }) => !isFenced && /^#{1,2} /.test(text));
  const section = nextHeading === -1 ? below : below.slice(0, nextHeading);
  const start = section.findIndex(({ isFenced }) => isFenced);
  const block = start === -1 ? [] : section.slice(start);
  const end = block.findIndex(({ isFenced }) => !isFenced);
  return (end === -1 ? block : block.slice(0, end))
    .filter(({ text }) => text.trim() !== "" && !isFence(text))
    .map(({ text, line }) => ({ path: (text.trim().split(/\s+/)[0] ?? "").replace(/\/$/, ""), line }));
}

/** Returns the targets of links and images that are files, without URLs and anchors. */
function linksOf(markdown: string): { target: string; line: number }[] {
  return linesOf(markdown)
    .filter(({ isFenced }) => !isFenced)
    .flatMap(({ text, line }) => {
      const prose = text.replaceAll(/`[^`]*`/g, "");
      const inline = [...prose.matchAll(/\]\(\s*(?:<([^>]*)>|([^\s)]+))/g)];
      const definitions = [...prose.matchAll(/^ {0,3}\[[^\]]+\]:\s*(?:<([^>]*)>|(\S+))/g)];
      return [...inline, ...definitions]
        .map((match) => match[1] ?? match[2] ?? "")
        .filter((target) => !/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(target))
        .map((target) => ({ target: decoded(target.replace(/[#?].*$/, "")), line }));
    });
}

/** Decodes `%20` and the like. Invalid encodings stay unchanged. */
function decoded(target: string): string {
  try {
    return decodeURI(target);
  } catch {
    return target;
  }
}

/** A fence line belongs to its block. */
function linesOf(markdown: string): DocumentLine[] {
  let isOpen = false;
  return markdown.split("\n").map((text, index) => {
    const isFenceLine = isFence(text);
    const isFenced = isOpen || isFenceLine;
    if (isFenceLine) isOpen = !isOpen;
    return { text, line: index + 1, isFenced };
  });
}

function isFence(text: string): boolean {
  return /^\s*(```|~~~)/.test(text);
}

// Checks that names in the code avoid the glossary's banned words, which are listed in its right column.
import { posix } from "node:path";
import { lineAt, visit, type SourceFile } from "./source.ts";
import { isGenerated, RATCHET_PATH, type Finding, type Rule } from "./tree.ts";

const GLOSSARY = "GLOSSARY.md";

/**
 * Banned words that names may still use, with their other meaning in a program. Words that also occur in the left column are not checked,
 * because they name another idea.
 */
export const OTHER_MEANINGS: Readonly<Record<string, string>> = {
  content: "the type of a body; what a template renders to",
  document: "of OpenAPI, of a browser, any JSON",
  mail: "mail servers, mailboxes, the SMTP command MAIL",
  mark: "of punctuation and accents; highlighted text",
  meaning: "the sense of a word, a value, a setting",
  note: "a remark on a value or a page",
  operator: "of a filter",
  piece: "a part of a file or a text",
  probe: "a script that checks a platform",
  receipt: "a read receipt",
  seal: "to encrypt",
  strike: "struck-through text",
  visit: "of a syntax tree, of a page",
  world: "the model of a test",
};

export const bannedWords: Rule = {
  name: "no name in the code is banned by the glossary",
  check: ({ sources, texts }) => {
    const { words, bans } = wordsOf(texts.get(GLOSSARY) ?? "");
    const meanings = Object.keys(OTHER_MEANINGS);
    const unknown = bans.size === 0 ? [] : meanings.filter((ban) => !bans.has(ban));
    const banned = [...bans].filter(([ban]) => !words.has(ban) && !meanings.includes(ban));
    return [
      ...unknown.map((ban): Finding => ({
        path: GLOSSARY,
        message: `does not ban "${ban}". Take it off OTHER_MEANINGS (tools/tidy/glossary.ts).`,
      })),
      ...beyondRatchet(
        sources.filter(({ text }) => !isGenerated(text)).flatMap((file) => findingsOf(file, banned)),
        ratchetOf(texts.get(RATCHET_PATH)),
      ),
    ];
  },
};

/** Returns the words of the left column, and for each word of the right column the one to use. */
function wordsOf(glossary: string): { words: Set<string>; bans: Map<string, string> } {
  const words = new Set<string>();
  const bans = new Map<string, string>();
  const [, rows = ""] = glossary.split("|---|---|---|\n");
  for (const line of rows.split("\n")) {
    const [, word = "", , not = ""] = line.split("|").map((cell) => cell.trim());
    for (const one of listIn(word)) words.add(one);
    for (const ban of listIn(not)) bans.set(ban, word);
  }
  return { words, bans };
}

/** Returns the words of a cell without parentheses. */
function listIn(cell: string): string[] {
  const parts = cell.replaceAll(/\([^)]*\)/g, "").split(",");
  return parts.map((part) => part.trim()).filter((part) => /^[a-z]/.test(part));
}

/** Words that are still in many names are on the ratchet with their count, which may only fall. */
function beyondRatchet(found: readonly NameFinding[], ratchet: ReadonlyMap<string, number>): Finding[] {
  const counts = Map.groupBy(found, ({ ban }) => ban);
  const over = found.filter(({ ban }) => (counts.get(ban)?.length ?? 0) > (ratchet.get(ban) ?? 0));
  const fallen = [...ratchet].filter(([ban, allowed]) => (counts.get(ban)?.length ?? 0) < allowed);
  return [
    ...over.map(({ finding }) => finding),
    ...fallen.map(([ban]): Finding => {
      const count = counts.get(ban)?.length ?? 0;
      const advice = count === 0 ? "Delete its entry" : `Lower its entry to ${count}`;
      return { path: RATCHET_PATH, message: `"${ban}" is in ${count} names now. ${advice} in oldWords.` };
    }),
  ];
}

function ratchetOf(text = "{}"): Map<string, number> {
  const { oldWords = {} } = JSON.parse(text) as { oldWords?: Record<string, number> };
  return new Map(Object.entries(oldWords));
}

interface NameFinding {
  ban: string;
  finding: Finding;
}

function findingsOf(file: SourceFile, bans: ReadonlyArray<[ban: string, word: string]>): NameFinding[] {
  const findings: NameFinding[] = [];
  const look = (name: string, line?: number): void => {
    const words = inWords(name);
    const [ban, word] = bans.find(([one]) => words.includes(inWords(one))) ?? [];
    if (ban === undefined) return;
    const message = `calls something ${name}, and the glossary has another word for "${ban}": ${word}.`;
    findings.push({ ban, finding: { path: file.path, ...(line === undefined ? {} : { line }), message } });
  };
  look(posix.basename(file.path).split(".")[0] ?? "");
  const seen = new Set<string>();
  visit(file, {
    Identifier({ name, start }) {
      if (seen.has(name)) return;
      seen.add(name);
      look(name, lineAt(file.text, start));
    },
  });
  return findings;
}

/**
 * Returns a name as singular words with surrounding spaces: `waitingRoom`, `WAITING_ROOM` and `waiting-rooms` all contain " waiting room ".
 */
function inWords(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/s$/, ""));
  return ` ${words.join(" ")} `;
}

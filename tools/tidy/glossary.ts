// The right column of the glossary: words that are not used for an idea, because another one is.
// Before it: source.ts, and GLOSSARY.md. After it: rules.ts.
import { posix } from "node:path";
import { lineAt, visit, type SourceFile } from "./source.ts";
import { isGenerated, type Finding, type Rule } from "./tree.ts";

const GLOSSARY = "GLOSSARY.md";

/**
 * Of the words in the right column those that mean nothing else in a program: a `queue`, a `chunk` or a `callback` may be what everybody calls so.
 * As they stand there; in names they may be written together.
 */
const BANNED = [
  "automation",
  "beacon",
  "bell",
  "blacklist",
  "gate",
  "enrolment",
  "journey",
  "mailer",
  "mass action",
  "newsletter",
  "rollover",
  "waiting room",
  "wipe",
  "workspace",
] as const;

export const bannedWords: Rule = {
  name: "no name in the code is a word that the glossary bans",
  check: ({ sources, texts }) => {
    const wordByBan = wordsOf(texts.get(GLOSSARY) ?? "");
    const unknown = wordByBan.size === 0 ? [] : BANNED.filter((ban) => !wordByBan.has(ban));
    return [
      ...unknown.map((ban): Finding => ({
        path: GLOSSARY,
        message: `does not ban "${ban}" any more. Take it off BANNED (tools/tidy/glossary.ts).`,
      })),
      ...sources.filter(({ text }) => !isGenerated(text)).flatMap((file) => findingsOf(file, wordByBan)),
    ];
  },
};

/** For each word of the right column the word to use. */
function wordsOf(glossary: string): Map<string, string> {
  return new Map(
    glossary.split("\n").flatMap((line) => {
      const [, word = "", , not = ""] = line.split("|").map((cell) => cell.trim());
      return not
        .replaceAll(/\([^)]*\)/g, "")
        .split(",")
        .map((ban): [string, string] => [ban.trim(), word])
        .filter(([ban]) => ban !== "");
    }),
  );
}

function findingsOf(file: SourceFile, wordByBan: ReadonlyMap<string, string>): Finding[] {
  const findings: Finding[] = [];
  const look = (name: string, line?: number): void => {
    const ban = bannedIn(name);
    if (ban === undefined) return;
    const word = wordByBan.get(ban);
    const message = `calls something ${name}, and the glossary has another word for "${ban}"${word === undefined ? "" : `: ${word}`}.`;
    findings.push({ path: file.path, ...(line === undefined ? {} : { line }), message });
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

/** In words: `waitingRoom`, `WAITING_ROOM` and `waiting-rooms` are all of waiting room. */
function bannedIn(name: string): string | undefined {
  const words = ` ${name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/s$/, ""))
    .join(" ")} `;
  return BANNED.find((ban) => words.includes(` ${ban.replaceAll(/s\b/g, "")} `));
}

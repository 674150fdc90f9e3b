// Checks that names in the code avoid the glossary's banned words, which are listed in its right column.
import { posix } from "node:path";
import { lineAt, visit, type SourceFile } from "./source.ts";
import { isGenerated, type Finding, type Rule } from "./tree.ts";

const GLOSSARY = "GLOSSARY.md";

/**
 * Banned words that names may still use, with their other meaning in a program. Words that also occur in the left column are not checked,
 * because they name another idea.
 */
export const OTHER_MEANINGS: Readonly<Record<string, string>> = {
  account: "what somebody logs in to; of SES, of the operating system",
  "account mail": "mail about an account, one sort of system mail",
  action: "what was done, in the audit log; of a form",
  admin: "a role of members; the program for the operator",
  alert: "a role of HTML, a picture",
  asset: "a file of the dashboard, as it is built",
  attributes: "of HTML",
  blocked: "refused for the policy of a provider; a limit that was reached",
  blocklist: "a name of a package",
  body: "of a request, a message, a function",
  broadcast: "of networks; a channel between tabs",
  callback: "of JavaScript",
  channel: "of pixels; between tabs and threads",
  chunk: "of bytes",
  column: "of a table, a CSV, a mail",
  confirm: "a dialog asks; what a report does",
  daemon: "the mailer daemon of others",
  delivery: "what the receiving side reports",
  edge: "of a line, of a box, a browser",
  environment: "of a process",
  escape: "in texts and markup",
  exception: "of a language, a package, a rule",
  feedback: "a report of a transport or a receiver",
  file: "on a disk, of an upload",
  flow: "of OAuth",
  frozen: "a process that is stopped, an object",
  group: "of conditions, of items by a key",
  history: "of an editor; what was, in the order of time",
  hook: "of React, Fastify, Vitest",
  layout: "a picture, the looks of a page",
  lifetime: "of sessions, cookies and keys",
  link: "in mails and pages",
  list: "several of something",
  lock: "of rows and files",
  log: "of a program, of consent, an audit",
  lost: "gone, and not in doubt",
  media: "a media type",
  module: "of JavaScript",
  node: "of a tree; Node.js",
  outcome: "of an attempt, a wait, an import",
  ownership: "of a project",
  part: "some of a whole",
  path: "of a file, an address, a return path",
  places: "where something stands",
  properties: "of objects and schemas",
  property: "of objects and schemas",
  provider: "of mailboxes, of identities",
  query: "of SQL, of an address",
  reason: "a text that says why",
  recipient: "an address of one mail",
  response: "of HTTP, where the platform calls it so",
  rule: "of lists and checks; `rules.ts`",
  run: "to run",
  signal: "of the operating system, of an abort",
  subscriber: "who waits for an event of the program; a contact that is subscribed",
  suppression: "of an address; of a warning of the linter",
  suspended: "of a project, a suspension",
  task: "of a thread",
  token: "in links and cookies",
  upload: "the request with a file, and what it leaves",
  worker: "a role; a thread",
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
      ...sources.filter(({ text }) => !isGenerated(text)).flatMap((file) => findingsOf(file, banned)),
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

function findingsOf(file: SourceFile, bans: ReadonlyArray<[ban: string, word: string]>): Finding[] {
  const findings: Finding[] = [];
  const look = (name: string, line?: number): void => {
    const words = inWords(name);
    const [ban, word] = bans.find(([one]) => words.includes(inWords(one))) ?? [];
    if (ban === undefined) return;
    const message = `calls something ${name}, and the glossary has another word for "${ban}": ${word}.`;
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

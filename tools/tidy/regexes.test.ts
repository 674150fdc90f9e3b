// Every regular expression of the product is fed the worst that can be made of its own letters. A new one joins by being written;
// one that takes long gets a bound on what it reads, and a line in BOUNDED that says what the bound is.
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { visit, type SourceFile } from "./source.ts";
import { isGenerated, isTest, readTree } from "./tree.ts";

const PRODUCT = /^(server\/src|contract\/src)\//;
/** Where time grows with the square of the length, this many characters take 100 ms, and a megabyte minutes; else, microseconds. */
const LENGTH = 20_000;
/** In CPU time of this thread: by the clock a busy machine takes longer. */
const MOST_MS = 20;
const TIMEOUT_MS = 500;
const LETTERS_MAX = 16;
const PAIRS_MAX = 6;

/** `path /source/`: how many characters reach it at most. */
const BOUNDED: Readonly<Record<string, number>> = {
  // The three digits after a second.
  "server/src/contacts/filters/rules.ts /0+$/": 3,
  // A file name that was cut before.
  "server/src/emails/message/attachment.ts /[. ]+$/": 255,
  // A header of a message, whose value is no longer than a line may be.
  "server/src/emails/message/dkim.ts /[ \\t]+$/": 1_000,
  // A setting.
  "server/src/platform/config.ts /\\/+$/": 1_000,
  // The beginning of what a link shows.
  "server/src/templates/link-rules.ts /[.,;:!?)\\]]+$/": 1_000,
};

interface Expression {
  name: string;
  regex: RegExp;
}

function expressionsOf(file: SourceFile): Expression[] {
  const found: Expression[] = [];
  visit(file, {
    Literal(node) {
      if (!("regex" in node)) return;
      const { pattern, flags } = node.regex;
      found.push({ name: `${file.path} /${pattern}/`, regex: new RegExp(pattern, flags) });
    },
  });
  return found;
}

/** Texts that an expression may dwell on: its own letters and one of each usual kind, again and again, and then none of them. */
function attacksOn({ source }: RegExp, length: number): string[] {
  const own = source.replace(
    /\\[dDwWsSbBpP](\{[^}]*\})?|\\u\{?[0-9a-f]+\}?|\\x[0-9a-f]{2}|[\\^$()[\]{}|*+?]/gi,
    "",
  );
  const letters = [...new Set([...own, "a", "0", " ", "\n", "-", "."])].slice(0, LETTERS_MAX);
  const pairs = letters.slice(0, PAIRS_MAX).map((letter) => `${letter}a`);
  return [...letters, ...pairs].map((unit) => `${unit.repeat(Math.floor(length / unit.length))}\u0000`);
}

const context = createContext({});

function cpuMsOf(regex: RegExp, text: string): number {
  Object.assign(context, { regex, text });
  const before = process.threadCpuUsage();
  try {
    runInContext("regex.lastIndex = 0; text.replace(regex, '')", context, { timeout: TIMEOUT_MS });
  } catch {
    return Infinity;
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const tree = readTree(join(import.meta.dirname, "../.."));
const expressions = tree.sources
  .filter(({ path, text }) => PRODUCT.test(path) && !isTest(path) && !isGenerated(text))
  .flatMap(expressionsOf);

test("no regular expression takes long, whatever reaches it", { timeout: 120_000 }, () => {
  const slow = expressions.filter(({ name, regex }) =>
    attacksOn(regex, BOUNDED[name] ?? LENGTH).some(
      // Twice, since the first time it is compiled, and garbage may be collected.
      (text) => cpuMsOf(regex, text) > MOST_MS && cpuMsOf(regex, text) > MOST_MS,
    ),
  );
  expect(slow.map(({ name }) => name)).toEqual([]);
});

test("each bound is of an expression that is there", () => {
  const names = new Set(expressions.map(({ name }) => name));
  expect(Object.keys(BOUNDED).filter((name) => !names.has(name))).toEqual([]);
});

// Every regular expression of the product is fed the worst that can be made of its own letters. A new one joins by being written;
// one that takes long gets a bound on what it reads, and a line in BOUNDED that says what the bound is.
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { visit, type SourceFile } from "./source.ts";
import { cpuMsOf, MOST_MS, tooLongMsOf, TRIES } from "./thread-time.ts";
import { isGenerated, isTest, readTree } from "./tree.ts";

const PRODUCT = /^(server\/src|contract\/src)\//;
/** As much as a request may have everywhere. */
const LENGTH = LIMITS.bodyBytes.value;
/** Where time grows with the square of the length, this many characters take 100 ms, and a megabyte minutes; else, microseconds. */
const PROBE_LENGTH = 20_000;
/** So many of the texts that took longest of this length are fed at full length. */
const WORST = 2;
const TIMEOUT_MS = 500;
const LETTERS_MAX = 16;
const PAIRS_MAX = 6;

const LAST_WORDS = 40_000;
const WORDS_OF_MUSTACHE =
  String.raw`server/src/templates/mustaches.ts /"(?:\\"|[^"])*"|'(?:\\'|[^'])*'|\?\?|(?:@|\.\.?\/)*(?:\[(?:\\\]|[^\]])*\]|(?:(?!\?\?)[^\s!"#%-,./;<=>@[-^\`{-~])+|\.\.?)(?:[./](?:\[(?:\\\]|[^\]])*\]|(?:(?!\?\?)[^\s!"#%-,./;<=>@[-^\`{-~])+))*|[=()|]/`.replaceAll(
    "\\`",
    "`",
  );

/** `path /source/`: how many characters reach it at most. */
const BOUNDED: Readonly<Record<string, number>> = {
  // What a server answered, cut before.
  "server/src/transports/answers/answers.ts /[^\\s<>\"'()[\\]:;,=@]{1,64}@/": 2_000,
  "server/src/transports/answers/answers.ts /[<\"'([{]{1,2}\\s?@\\s?[>\"')\\]}]{1,2}/": 2_000,
  // The names of the headers of one mail, and those of ours.
  "server/src/message/dkim.ts /.{1,70}(?:[:;])/": (LIMITS.headers.value + 50) * LIMITS.headerNameLength.value,
  // What stands between the braces of a template, cut before.
  [WORDS_OF_MUSTACHE]: 10_000,
  // The last words of a mail, cut before.
  "server/src/templates/postal-address.ts /〒 ?\\d{3}-\\d{4}|[都道府県].{1,20}[市区町村]/": LAST_WORDS,
  "server/src/templates/postal-address.ts /\\p{Script=Han}{1,10}[路街道]\\s?\\d{1,5}|[로길] ?\\d{1,5}/":
    LAST_WORDS,
  "server/src/templates/postal-address.ts /\\p{Lu}[\\p{L}'’.-]{2,40}, \\d{6}\\b/": LAST_WORDS,
  // The three digits after a second.
  "server/src/segments/filters/rules.ts /0+$/": 3,
  // A file name that was cut before.
  "server/src/message/attachment.ts /[. ]+$/": 255,
  // A header of a message, whose value is no longer than a line may be.
  "server/src/message/dkim.ts /[ \\t]+$/": 1_000,
  // A setting.
  "server/src/platform/settings/config.ts /\\/+$/": 1_000,
  // The beginning of what a link shows.
  "server/src/templates/link-rules.ts /[.,;:!?)\\]]+$/": 1_000,
};

/** The same for all expressions of a file. */
const BOUNDED_FILES: Readonly<Record<string, number>> = {
  // A user agent, cut before.
  "server/src/deliveries/tracking/machine-rules.ts": 1_000,
};

interface Expression {
  /** `path /source/`. */
  name: string;
  path: string;
  regex: RegExp;
}

function expressionsOf(file: SourceFile): Expression[] {
  const found: Expression[] = [];
  visit(file, {
    Literal(node) {
      if (!("regex" in node)) return;
      const { pattern, flags } = node.regex;
      found.push({
        name: `${file.path} /${pattern}/`,
        path: file.path,
        regex: new RegExp(pattern, flags),
      });
    },
  });
  return found;
}

/** What an expression may dwell on, again and again: its own letters and one of each usual kind. */
function unitsOf({ source }: RegExp): string[] {
  const own = source.replace(
    /\\[dDwWsSbBpP](\{[^}]*\})?|\\u\{?[0-9a-f]+\}?|\\x[0-9a-f]{2}|[\\^$()[\]{}|*+?]/gi,
    "",
  );
  const letters = [...new Set([...own, "a", "0", " ", "\n", "-", "."])].slice(0, LETTERS_MAX);
  return [...letters, ...letters.slice(0, PAIRS_MAX).map((letter) => `${letter}a`)];
}

/** A unit so long again and again, and then something that nothing expects. */
function textOf(unit: string, length: number): string {
  return `${unit.repeat(Math.floor(length / unit.length))}\u0000`;
}

const context = createContext({});

/** In CPU time; Infinity where it was broken off. */
function msOf(regex: RegExp, text: string): number {
  Object.assign(context, { regex, text });
  try {
    return cpuMsOf(() =>
      runInContext("regex.lastIndex = 0; text.replace(regex, '')", context, { timeout: TIMEOUT_MS }),
    );
  } catch {
    return Infinity;
  }
}

const tree = readTree(join(import.meta.dirname, "../.."));
const expressions = tree.sources
  .filter(({ path, text }) => PRODUCT.test(path) && !isTest(path) && !isGenerated(text))
  .flatMap(expressionsOf);

/** What the worst of its texts takes where that is too long; Infinity where a text of full length would take minutes. */
function worstMsOf({ name, path, regex }: Expression): number | undefined {
  const length = BOUNDED[name] ?? BOUNDED_FILES[path] ?? LENGTH;
  const probes = unitsOf(regex).map((unit) => ({
    unit,
    ms: leastMsOf(regex, textOf(unit, Math.min(length, PROBE_LENGTH))),
  }));
  const worst = probes.toSorted((one, other) => other.ms - one.ms).slice(0, WORST);
  const most = worst[0]?.ms ?? 0;
  if (most > MOST_MS) return length <= PROBE_LENGTH ? most : Infinity;
  if (length <= PROBE_LENGTH) return undefined;
  const texts = worst.map(({ unit }) => textOf(unit, length));
  return texts.map((text) => tooLongMsOf(() => msOf(regex, text))).find(Boolean);
}

/** The least of several times where the first is too long. */
function leastMsOf(regex: RegExp, text: string): number {
  let ms = msOf(regex, text);
  // Also where it was broken off: that is measured by the clock, and a busy machine may have stopped.
  for (let tries = 1; tries < TRIES && ms > MOST_MS; tries++) ms = Math.min(ms, msOf(regex, text));
  return ms;
}

test("no regular expression takes long, whatever reaches it", { timeout: 120_000 }, () => {
  const slow = expressions.flatMap((one) => {
    const ms = worstMsOf(one);
    return ms === undefined ? [] : [`${one.name}: ${ms.toFixed(0)} ms`];
  });
  expect(slow).toEqual([]);
});

test("each bound is of an expression that is there", () => {
  const names = new Set(expressions.flatMap(({ name, path }) => [name, path]));
  const bounds = Object.keys({ ...BOUNDED, ...BOUNDED_FILES });
  expect(bounds.filter((name) => !names.has(name))).toEqual([]);
});

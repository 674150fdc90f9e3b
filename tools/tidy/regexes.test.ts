// Tests every regular expression of the product with its worst inputs. New ones are found automatically. A slow one needs a limit on its
// input, and an entry in BOUNDED that explains the limit.
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { visit, type SourceFile } from "./source.ts";
import { cpuMsOf, MOST_MS, tooLongMsOf, TRIES } from "./thread-time.ts";
import { isGenerated, isTest, readTree } from "./tree.ts";

const PRODUCT = /^(server\/src|contract\/src)\//;
/** The maximum size of a request body. */
const LENGTH = LIMITS.bodyBytes.value;
/** With quadratic time this length takes 100 ms and a megabyte takes minutes; otherwise it takes microseconds. */
const PROBE_LENGTH = 20_000;
/** The number of slowest texts that are repeated at full length. */
const WORST = 2;
/** For all texts of an expression. Without backtracking they take a few milliseconds. */
const TIMEOUT_MS = 500;
/** For one text. A timeout measures wall-clock time, and a busy machine may stop this thread for longer than the time of all texts. */
const ALONE_TIMEOUT_MS = 3_000;
const LETTERS_MAX = 16;
const PAIRS_MAX = 6;

const LAST_WORDS = 40_000;
const WORDS_OF_MUSTACHE =
  String.raw`server/src/templates/mustaches.ts /"(?:\\"|[^"])*"|'(?:\\'|[^'])*'|\?\?|(?:@|\.\.?\/)*(?:\[(?:\\\]|[^\]])*\]|(?:(?!\?\?)[^\s!"#%-,./;<=>@[-^\`{-~])+|\.\.?)(?:[./](?:\[(?:\\\]|[^\]])*\]|(?:(?!\?\?)[^\s!"#%-,./;<=>@[-^\`{-~])+))*|[=()|]/`.replaceAll(
    "\\`",
    "`",
  );

/** Maximum input length by `path /source/`. */
const BOUNDED: Readonly<Record<string, number>> = {
  // A server's reply, truncated before.
  "server/src/transports/replies/replies.ts /[^\\s<>\"'()[\\]:;,=@]{1,64}@/": 2_000,
  "server/src/transports/replies/replies.ts /[<\"'([{]{1,2}\\s?@\\s?[>\"')\\]}]{1,2}/": 2_000,
  // The names of an email's headers, including ours.
  "server/src/message/dkim.ts /.{1,70}(?:[:;])/": (LIMITS.headers.value + 50) * LIMITS.headerNameLength.value,
  // The text between template braces, truncated before.
  [WORDS_OF_MUSTACHE]: 10_000,
  // The last words of an email, truncated before.
  "server/src/templates/postal-address.ts /〒 ?\\d{3}-\\d{4}|[都道府県].{1,20}[市区町村]/": LAST_WORDS,
  "server/src/templates/postal-address.ts /\\p{Script=Han}{1,10}[路街道]\\s?\\d{1,5}|[로길] ?\\d{1,5}/":
    LAST_WORDS,
  "server/src/templates/postal-address.ts /\\p{Lu}[\\p{L}'’.-]{2,40}, \\d{6}\\b/": LAST_WORDS,
  // The three digits of milliseconds.
  "server/src/segments/filters/rules.ts /0+$/": 3,
  // A file name, truncated before.
  "server/src/message/attachment.ts /[. ]+$/": 255,
  // A message header with a value that fits on one line.
  "server/src/message/dkim.ts /[ \\t]+$/": 1_000,
  // A setting.
  "server/src/platform/settings/config.ts /\\/+$/": 1_000,
  // The beginning of a link's text.
  "server/src/templates/link-rules.ts /[.,;:!?)\\]]+$/": 1_000,
};

/** Limits for all expressions of a file. */
const BOUNDED_FILES: Readonly<Record<string, number>> = {
  // A user agent, truncated before.
  "server/src/deliveries/tracking/machine-rules.ts": 1_000,
};

interface Expression {
  /** In the form `path /source/`. */
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

/** Returns the letters that may slow an expression down: its own and one of each common class. */
function unitsOf({ source }: RegExp): string[] {
  const own = source.replace(
    /\\[dDwWsSbBpP](\{[^}]*\})?|\\u\{?[0-9a-f]+\}?|\\x[0-9a-f]{2}|[\\^$()[\]{}|*+?]/gi,
    "",
  );
  const letters = [...new Set([...own, "a", "0", " ", "\n", "-", "."])].slice(0, LETTERS_MAX);
  return [...letters, ...letters.slice(0, PAIRS_MAX).map((letter) => `${letter}a`)];
}

/** Returns a repeated unit, followed by a character that nothing matches. */
function textOf(unit: string, length: number): string {
  return `${unit.repeat(Math.floor(length / unit.length))}\u0000`;
}

const context = createContext({ cpuMsOf });

const MEASURE = new Script(
  "times = texts.map((text) => { regex.lastIndex = 0; return cpuMsOf(() => text.replace(regex, '')); })",
);

/** Returns the CPU time of each text in ms, or null after a timeout of all together. One timeout costs a thread, so texts share it. */
function msOfAll(regex: RegExp, texts: readonly string[], timeout = TIMEOUT_MS): number[] | null {
  Object.assign(context, { regex, texts, times: [] });
  try {
    MEASURE.runInContext(context, { timeout });
  } catch {
    return null;
  }
  return [...(context["times"] as number[])];
}

/** Returns the CPU time in ms; Infinity after a timeout. */
const msOf = (regex: RegExp, text: string): number =>
  msOfAll(regex, [text], ALONE_TIMEOUT_MS)?.[0] ?? Infinity;

const tree = readTree(join(import.meta.dirname, "../.."));
const expressions = tree.sources
  .filter(({ path, text }) => PRODUCT.test(path) && !isTest(path) && !isGenerated(text))
  .flatMap(expressionsOf);

/** Returns the worst time of an expression if it is too slow; Infinity if a full-length text would take minutes. */
function worstMsOf({ name, path, regex }: Expression): number | undefined {
  const length = BOUNDED[name] ?? BOUNDED_FILES[path] ?? LENGTH;
  const units = unitsOf(regex);
  const texts = units.map((unit) => textOf(unit, Math.min(length, PROBE_LENGTH)));
  const times = msOfAll(regex, texts);
  const probes = texts.map((text, at) => ({
    unit: units[at] ?? "",
    ms: leastMsOf(regex, text, times?.[at]),
  }));
  const worst = probes.toSorted((one, other) => other.ms - one.ms).slice(0, WORST);
  const most = worst[0]?.ms ?? 0;
  if (most > MOST_MS) return length <= PROBE_LENGTH ? most : Infinity;
  if (length <= PROBE_LENGTH) return undefined;
  return worst.map(({ unit }) => tooLongMsOf(() => msOf(regex, textOf(unit, length)))).find(Boolean);
}

/** Returns the minimum of several attempts if the first is too slow. */
function leastMsOf(regex: RegExp, text: string, firstMs = msOf(regex, text)): number {
  let ms = firstMs;
  // Retry timeouts as well, because they use wall-clock time and the machine may be busy.
  for (let tries = 1; tries < TRIES && ms > MOST_MS; tries++) ms = Math.min(ms, msOf(regex, text));
  return ms;
}

test("no regular expression is slow for any input", { timeout: 120_000 }, () => {
  const slow = expressions.flatMap((one) => {
    const ms = worstMsOf(one);
    return ms === undefined ? [] : [`${one.name}: ${ms.toFixed(0)} ms`];
  });
  expect(slow).toEqual([]);
});

test("every bound belongs to an existing expression", () => {
  const names = new Set(expressions.flatMap(({ name, path }) => [name, path]));
  const bounds = Object.keys({ ...BOUNDED, ...BOUNDED_FILES });
  expect(bounds.filter((name) => !names.has(name))).toEqual([]);
});

// Fills variables into short texts, such as the address of a webhook. Bounded by counts instead of time, so that it needs no separate thread
// and always ends in the same way.

import { LRUCache } from "lru-cache";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { builtInHelper, compileTemplate, printed, type Template } from "./compile-template.ts";
import { PRINT_HELPER, PRINT_LIST_HELPER, PRINT_UNESCAPED_HELPER } from "./helper-names.ts";
import { scanTemplate } from "./scan-template.ts";
import { isMustache } from "./template-tree.ts";
import { parseTemplate } from "./template-syntax.ts";

/** Why a text cannot be filled, as a sentence. Contains no value of a variable, because reasons outlive the data of contacts. */
export class FillError extends Error {}

/** Returns whether a text may contain variables. */
export function hasVariables(text: string): boolean {
  return text.includes("{{");
}

/** Returns the number of mustaches in a text. */
export function countMustaches(text: string): number {
  return hasVariables(text) ? scanTemplate(text).pieces.filter(({ kind }) => kind !== "content").length : 0;
}

/**
 * Returns a text with `stand` in place of each character of a mustache, so that signs in mustaches are not signs of the text. A text that is
 * no template stays as it is.
 */
export function withoutMustaches(text: string, stand: string): string {
  if (!hasVariables(text)) return text;
  const { pieces, problems } = scanTemplate(text);
  if (problems.length > 0) return text;
  return pieces
    .map(({ kind, start, end }) => (kind === "content" ? text.slice(start, end) : stand.repeat(end - start)))
    .join("");
}

export interface Filler {
  /** Returns the text with its variables, or the value itself if the text is only one variable. Undefined if that is missing. */
  value(source: string): unknown;
  /** Returns the text with its variables. `print` writes each of them. */
  text(source: string, print?: (value: unknown) => string): string;
  /** Returns JSON with all of its texts filled. Missing values of objects are left out. */
  json(value: unknown): unknown;
}

/**
 * Returns what fills the texts of one step. All of its texts share the limits.
 * Its functions throw FillError if a text is not a template, loops too often, or becomes too large.
 */
export function createFiller(readVariables: () => Record<string, unknown>): Filler {
  const { value: most } = LIMITS.filledLength;
  const left: Left = { rounds: LIMITS.filledRounds.value, characters: most, looped: MOST_LOOPED * most };

  let variables: Record<string, unknown> | null = null;
  function run(source: string, print: (value: unknown) => string): string {
    const { template } = compiled(source);
    variables ??= readVariables();
    const filled = template(variables, { [FILLING]: { left, print } satisfies Filling });
    spend(left, filled.length);
    return filled;
  }
  function text(source: string, print: (value: unknown) => string = printed): string {
    return hasVariables(source) ? run(source, print) : source;
  }
  function value(source: string): unknown {
    if (!hasVariables(source) || !compiled(source).isOneValue) return text(source);
    let found: unknown;
    run(source, (one) => {
      found = one;
      return "";
    });
    spend(left, sizeOf(found));
    return found;
  }
  /** The depth of JSON in requests is limited. */
  function json(input: unknown): unknown {
    if (typeof input === "string") return value(input);
    if (Array.isArray(input)) return input.map(json);
    if (typeof input !== "object" || input === null) return input;
    const filled = Object.entries(input).map(([key, inner]) => [key, json(inner)] as const);
    return Object.fromEntries(filled.filter(([, inner]) => inner !== undefined));
  }
  return { value, text, json };
}

interface Left {
  rounds: number;
  characters: number;
  /** Characters that the rounds of loops may return. Nested loops return the same ones several times. */
  looped: number;
}

const MOST_LOOPED = 4;

/** The state of one text, which its helpers share. */
interface Filling {
  left: Left;
  print: (value: unknown) => string;
}

/** Key of a Filling in the data of helpers. Templates cannot name it, because they contain no NUL. */
const FILLING = "\0filling";

/** Returns null when the template is only compiled. */
function fillingOf({ data }: Handlebars.HelperOptions): Filling | null {
  return (data as { [FILLING]?: Filling } | undefined)?.[FILLING] ?? null;
}

function spend(left: Left, characters: number): void {
  left.characters -= characters;
  if (left.characters < 0) throw new FillError(TOO_LONG);
}

const TOO_LONG = recordedReason("textTooLong", { most: LIMITS.filledLength.value });
const TOO_MANY_ROUNDS = recordedReason("tooManyRounds", { most: LIMITS.filledRounds.value });

const sizeOf = (value: unknown) => (value === undefined ? 0 : JSON.stringify(value).length);

function printFilled(value: unknown, options: Handlebars.HelperOptions): string {
  const filling = fillingOf(options);
  if (filling === null) return "";
  const text = filling.print(value);
  spend(filling.left, text.length);
  return text;
}

/** Counts the rounds of a loop, which are all that can make a text take long. */
function counted(name: "each" | "blockHelperMissing") {
  const helper = builtInHelper(name);
  return function (this: unknown, context: unknown, options: Handlebars.HelperOptions): unknown {
    const left = fillingOf(options)?.left;
    const fn = (inner: unknown, extra?: Handlebars.RuntimeOptions): string => {
      if (left !== undefined && --left.rounds < 0) throw new FillError(TOO_MANY_ROUNDS);
      const text = options.fn(inner, extra);
      if (left !== undefined && (left.looped -= text.length) < 0) throw new FillError(TOO_LONG);
      return text;
    };
    return helper.call(this, context, { ...options, fn });
  };
}

const HELPERS = {
  [PRINT_HELPER]: printFilled,
  [PRINT_LIST_HELPER]: printFilled,
  [PRINT_UNESCAPED_HELPER]: printFilled,
  each: counted("each"),
  blockHelperMissing: counted("blockHelperMissing"),
};

interface Compiled {
  template: Template;
  /** Whether the text is only one variable. */
  isOneValue: boolean;
}

const COMPILED_MAX = 2_000;
const COMPILED_CHARACTERS_MAX = 4_000_000;
const compiledTexts = new LRUCache<string, Compiled>({
  max: COMPILED_MAX,
  maxSize: COMPILED_CHARACTERS_MAX,
  sizeCalculation: (_compiled, source) => source.length,
});

function compiled(source: string): Compiled {
  const known = compiledTexts.get(source);
  if (known !== undefined) return known;
  const { program, problems } = parseTemplate(source, { ignoreStandalone: true });
  if (program === null) throw new FillError(problems[0]?.message ?? "The text is not a template.");
  const [only, ...others] = program.body;
  const isOneValue = only !== undefined && others.length === 0 && isMustache(only);
  const made = { isOneValue, template: compileTemplate(program, { escape: false, helpers: HELPERS }) };
  compiledTexts.set(source, made);
  return made;
}

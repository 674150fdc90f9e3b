// Reads the mustaches of a template and the variables it uses. Cheap because it does not parse the template. Pure.
import { COMPARISONS } from "../rendering/comparisons.ts";
import { TEXT_STAND_IN } from "../rendering/parser-source.ts";
import { scanTemplate } from "../rendering/scan-template.ts";

/** `open` and `close` delimit a block, and `else` divides one. Comments and escaped braces are not included. */
export interface Mustache {
  kind: "value" | "open" | "else" | "close";
  /** Whether this is `{{^name}}`, which renders its block if the value is empty. */
  isInverse: boolean;
  start: number;
  end: number;
  words: Word[];
}

/** A path, literal or sign, and its position in the source. */
interface Word {
  text: string;
  start: number;
}

export interface UsedVariable {
  /** The top-level name, which is `plan` for `data.plan`. */
  name: string;
  start: number;
  /** Whether `??` provides a fallback. */
  hasFallback: boolean;
}

/** Tokens as read by Handlebars: strings, `??`, paths of names and `[any text]`, and signs with a meaning. */
const WORDS =
  /"(?:\\"|[^"])*"|'(?:\\'|[^'])*'|\?\?|(?:@|\.\.?\/)*(?:\[(?:\\\]|[^\]])*\]|(?:(?!\?\?)[^\s!"#%-,./;<=>@[-^`{-~])+|\.\.?)(?:[./](?:\[(?:\\\]|[^\]])*\]|(?:(?!\?\?)[^\s!"#%-,./;<=>@[-^`{-~])+))*|[=()|]/g;
/** Maximum number of characters read per mustache, because a megabyte would take long and no one writes that much. */
const READ_LENGTH = 10_000;
const SEGMENTS = /\[([^\]]*)\]|[^./]+/g;
const LITERAL = /^(?:true|false|null|undefined|-?\d+(?:\.\d+)?)$/;
const BLOCK_HELPERS = new Set(["if", "unless", "each", "with"]);
/** Blocks that do not change the meaning of names inside them. */
const TRANSPARENT_HELPERS = new Set(["if", "unless"]);

/** Returns the mustaches of a template in order. For a template with errors, only those before the first error. */
export function mustachesOf(source: string): Mustache[] {
  if (!source.includes("{{")) return [];
  const { pieces, plainSource } = scanTemplate(source);
  return pieces.flatMap(({ kind, start, end }) => {
    if (kind !== "value" && kind !== "control") return [];
    const text = plainSource.slice(start, end);
    const [lead = ""] = /^\{\{~?[{&#^/]?/.exec(text) ?? [];
    const words = [...text.slice(lead.length, READ_LENGTH).matchAll(WORDS)].map((match) => ({
      text: match[0],
      start: start + lead.length + match.index,
    }));
    const role = kind === "value" ? kind : roleOf(lead, words);
    return [{ kind: role, isInverse: role === "open" && lead.endsWith("^"), start, end, words }];
  });
}

function roleOf(lead: string, words: readonly Word[]): "open" | "else" | "close" {
  if (lead.endsWith("/")) return "close";
  if (lead.endsWith("#")) return "open";
  return lead.endsWith("^") && words.length > 0 ? "open" : "else";
}

interface Block {
  /** Whether names in the block refer to an item or object with unknown fields. */
  isForeign: boolean;
  /** Whether the block's `{{else}}` applies when there is a value. */
  isInverse: boolean;
  /** Names introduced by `as |item|`. */
  locals: readonly string[];
}

/** Returns the top-level variables used in a template, in source order, once per position. */
export function variablesOf(source: string): UsedVariable[] {
  const used: UsedVariable[] = [];
  const blocks: Block[] = [];
  for (const mustache of mustachesOf(source)) {
    if (mustache.kind === "close") {
      blocks.pop();
      continue;
    }
    const { words, locals } = withoutLocals(mustache.words);
    const divided = mustache.kind === "else" ? blocks.pop() : undefined;
    for (const word of variableWords(mustache, words)) {
      const name = topLevelName(word.text, blocks);
      const hasFallback = words[words.indexOf(word) + 1]?.text === "??";
      if (name !== null) used.push({ name, start: word.start, hasFallback });
    }
    if (mustache.kind === "value") continue;
    const isForeign = divided?.isInverse === true || stepsInto(mustache, words);
    blocks.push({ isForeign, isInverse: mustache.isInverse, locals });
  }
  return used;
}

function withoutLocals(words: readonly Word[]): { words: readonly Word[]; locals: string[] } {
  const at = words.findIndex(({ text }, place) => text === "as" && words[place + 1]?.text === "|");
  if (at === -1) return { words, locals: [] };
  const locals = words.slice(at + 2).filter(({ text }) => text !== "|");
  return { words: words.slice(0, at), locals: locals.map(({ text }) => text) };
}

/** Returns the words that are variables, without helpers, options, literals and signs. */
function variableWords(mustache: Mustache, words: readonly Word[]): readonly Word[] {
  return words.filter(({ text }, at) => {
    if (/^(?:[=()|]|\?\?)$/.test(text)) return false;
    if (text === TEXT_STAND_IN && (at > 0 || mustache.kind !== "value")) return false;
    if (isFallbackWord(mustache, words, at)) return false;
    // In first position even `{{"first name"}}` and `{{12}}` are variables of that name.
    const isFirst = at === 0 && mustache.kind === "value";
    if (!isFirst && (/^["']/.test(text) || LITERAL.test(text))) return false;
    if (words[at + 1]?.text === "=") return false;
    const isCalled = at === 0 || words[at - 1]?.text === "(" || (at === 1 && mustache.kind === "else");
    if (!isCalled) return true;
    if (mustache.kind === "else" && at === 0) return false;
    const hasParameters = words.length > at + 1 && words[at + 1]?.text !== "??";
    const isHelper = text === "lookup" || COMPARISONS.has(text);
    return !(hasParameters && (isHelper || (mustache.kind !== "value" && BLOCK_HELPERS.has(text))));
  });
}

/** Returns whether a word follows the last `??`. Such a word is text if no variable has its name. */
function isFallbackWord({ kind }: Mustache, words: readonly Word[], at: number): boolean {
  return (
    kind === "value" &&
    at === words.length - 1 &&
    words[at - 1]?.text === "??" &&
    !/[[./@]/.test(words[at]?.text ?? "")
  );
}

/** Returns whether names in the block that starts here refer to an item or object. */
function stepsInto({ kind, isInverse }: Mustache, words: readonly Word[]): boolean {
  const helper = words[kind === "else" ? 1 : 0];
  return helper !== undefined && !isInverse && !TRANSPARENT_HELPERS.has(helper.text);
}

/** Returns the top-level name of a path, or null for a name in another scope, loop data (`@index`) or the whole context. */
function topLevelName(path: string, blocks: readonly Block[]): string | null {
  if (/^["']/.test(path)) return path.slice(1, -1);
  const [ascent = ""] = /^(?:\.\.\/)+/.exec(path) ?? [];
  const isRoot = path.startsWith("@root");
  if (path.startsWith("@") && !isRoot) return null;
  const segments = [...path.slice(ascent.length).matchAll(SEGMENTS)].map((match) => match[1] ?? match[0]);
  if (isRoot || segments[0] === "this") segments.shift();
  const [first, second] = segments;
  if (first === undefined) return null;
  if (!isRoot) {
    if (ascent === "" && blocks.some(({ locals }) => locals.includes(first))) return null;
    const foreign = blocks.filter((block) => block.isForeign).length;
    if (foreign > ascent.length / "../".length) return null;
  }
  return first === "data" && second !== undefined ? second : first;
}

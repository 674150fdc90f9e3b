// Texts inside of mustaches that Handlebars does not know: strings in any quotes, and bare words after `??`. Pure.
import { decodeEntities, entityAt } from "@postloft/contract/merge-tags/entities.ts";

/** A text in a mustache, from its opening quote to its closing one. */
export interface Literal {
  start: number;
  end: number;
  text: string;
  /** A space written as an entity: no text, and nothing stands in for it. */
  isBlank: boolean;
}

const DOUBLE_QUOTES = new Set(["“", "”", "„", "‟", "«", "»", "「", "」"]);
const SINGLE_QUOTES = new Set(["‘", "’", "‚", "‛", "‹", "›"]);

type QuoteKind = "double" | "single";

/** The quote at an offset that is not one of Handlebars' own, or the entity of any quote. */
function quoteAt(source: string, at: number): { kind: QuoteKind; length: number } | null {
  const entity = entityAt(source, at);
  const character = entity?.text ?? source[at] ?? "";
  const length = entity?.length ?? 1;
  if (DOUBLE_QUOTES.has(character) || (entity !== null && character === '"'))
    return { kind: "double", length };
  if (SINGLE_QUOTES.has(character) || (entity !== null && character === "'"))
    return { kind: "single", length };
  return null;
}

/** A single quote ends a text only before these, because it may be an apostrophe. */
const AFTER_TEXT = /(?:\s|&nbsp;|[)}~|=]|\?\?)/y;

/**
 * Returns the text in typographic quotes, or in quotes written as entities, that starts at an offset; null if none starts there,
 * `open` if it never ends.
 */
export function literalAt(source: string, start: number, limit: number): Literal | "open" | null {
  const opening = quoteAt(source, start);
  if (opening === null) {
    const entity = entityAt(source, start);
    if (entity?.text !== "\u00A0") return null;
    return { start, end: start + entity.length, text: "", isBlank: true };
  }
  const from = start + opening.length;
  for (let at = from; at < limit; at += 1) {
    const quote = quoteAt(source, at) ?? plainQuoteAt(source, at);
    if (quote?.kind !== opening.kind) continue;
    const end = at + quote.length;
    AFTER_TEXT.lastIndex = end;
    if (quote.kind === "single" && !AFTER_TEXT.test(source)) continue;
    return { start, end, text: decodeEntities(source.slice(from, at)), isBlank: false };
  }
  return "open";
}

/** Editors sometimes replace only the first of two quotes. */
function plainQuoteAt(source: string, at: number): { kind: QuoteKind; length: number } | null {
  if (source[at] === '"') return { kind: "double", length: 1 };
  return source[at] === "'" ? { kind: "single", length: 1 } : null;
}

/** Mustaches that open, divide or close a block, or are no mustache of a value. */
const NO_VALUE = /^\s*(?:[#/^>*]|else\b)/;
const LOOK_CHARACTERS = 100;
/** One name or path, however it is written; what has a fallback. */
const ONE_OPERAND = /^(?:\[[^\]]*\]|"[^"]*"|'[^']*'|[^\s()"'[\]])+$/;
/** What Handlebars reads itself: a string, a name, a number, a path, parentheses. */
const READABLE = /^(?:["'([@]|[^\s!"#%&'()*+,;<=>@[\\\]^`{|}~?]+$)/;
const SPACE = /^(?:\s|&nbsp;)+/;
const SPACES = /[\s\u00A0]+/g;

/**
 * Returns the bare text after a `??`, such as `dear customer` in `{{name ?? dear customer}}`; null if a value follows that
 * Handlebars reads. A single word is left to it, because it may be the name of a variable.
 *
 * @param inside where the words of the mustache begin
 * @param sign where its `??` is
 */
export function bareFallbackAt(source: string, inside: number, sign: number, limit: number): Literal | null {
  if (NO_VALUE.test(source.slice(inside, inside + LOOK_CHARACTERS))) return null;
  let end = sign + 2;
  while (end < limit && source[end] !== "}" && source[end] !== "{") {
    if (source[end] === "?" && source[end + 1] === "?") return null;
    end += 1;
  }
  if (source[end] !== "}" || !hasOneOperand(source.slice(inside, sign))) return null;
  const written = source.slice(sign + 2, end).replace(/~$/, "");
  const start = sign + 2 + (SPACE.exec(written)?.[0].length ?? 0);
  const text = source.slice(start, sign + 2 + written.length).trimEnd();
  if (text === "" || READABLE.test(text) || quoteAt(source, start) !== null) return null;
  return {
    start,
    end: start + text.length,
    text: decodeEntities(text).replace(SPACES, " ").trim(),
    isBlank: false,
  };
}

/** Whether each value of a chain is one name: `a`, or `a ?? b`. */
function hasOneOperand(before: string): boolean {
  return before.split("??").every((operand) => ONE_OPERAND.test(operand.replace(/^[{&~]/, "").trim()));
}

/** The offset after the closing quote or bracket; a backslash before it makes it part of the text. */
export function endOfQuoted(source: string, start: number, quote: string, limit: number): number | null {
  for (let at = start + 1; at < limit; at += 1) {
    if (source[at] === "\\" && source[at + 1] === quote) at += 1;
    else if (source[at] === quote) return at + 1;
  }
  return null;
}

// Parses text in mustaches that Handlebars cannot read: strings in any quotes, and bare words after `??`. Pure.
import { decodeEntities, entityAt } from "@postloft/contract/merge-tags/entities.ts";

/** A text in a mustache, from the opening to the closing quote. */
export interface Literal {
  start: number;
  end: number;
  text: string;
  /** Whether this is a space written as an entity, which has no text and no placeholder. */
  isBlank: boolean;
}

const DOUBLE_QUOTES = new Set(["“", "”", "„", "‟", "«", "»", "「", "」"]);
const SINGLE_QUOTES = new Set(["‘", "’", "‚", "‛", "‹", "›"]);

type QuoteKind = "double" | "single";

/** Returns the quote at an offset if it is a typographic quote or an entity of any quote. */
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
 * Returns the text that starts at an offset in typographic quotes or in quotes written as entities.
 * Returns null if no text starts there and `open` if the text never ends.
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

/** Returns a plain quote, because editors sometimes replace only the first of two quotes. */
function plainQuoteAt(source: string, at: number): { kind: QuoteKind; length: number } | null {
  if (source[at] === '"') return { kind: "double", length: 1 };
  return source[at] === "'" ? { kind: "single", length: 1 } : null;
}

/** Mustaches that open, divide or close a block, or print no value. */
const NO_VALUE = /^\s*(?:[#/^>*]|else\b)/;
const LOOK_CHARACTERS = 100;
/** Matches one name or path in any notation, the operand of a fallback. */
const ONE_OPERAND = /^(?:\[[^\]]*\]|"[^"]*"|'[^']*'|[^\s()"'[\]])+$/;
/** Matches syntax Handlebars reads: a string, name, number, path or parenthesis. */
const READABLE = /^(?:["'([@]|[^\s!"#%&'()*+,;<=>@[\\\]^`{|}~?]+$)/;
const SPACE = /^(?:\s|&nbsp;)+/;
const SPACES = /[\s\u00A0]+/g;

/**
 * Returns the bare text after a `??`, such as `dear customer` in `{{name ?? dear customer}}`.
 * Returns null if Handlebars can read the value. A single word counts as readable because it may be a variable.
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

/** Returns whether each value of a chain is one name: `a`, or `a ?? b`. */
function hasOneOperand(before: string): boolean {
  return before.split("??").every((operand) => ONE_OPERAND.test(operand.replace(/^[{&~]/, "").trim()));
}

/** Returns the offset after the closing quote or bracket. A backslash escapes a quote. */
export function endOfQuoted(source: string, start: number, quote: string, limit: number): number | null {
  for (let at = start + 1; at < limit; at += 1) {
    if (source[at] === "\\" && source[at + 1] === quote) at += 1;
    else if (source[at] === quote) return at + 1;
  }
  return null;
}

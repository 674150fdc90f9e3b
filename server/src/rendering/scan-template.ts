// Reads a template source once, character by character, before Handlebars sees it: finds the mustaches, refuses what
// would make parsing a bomb, and swaps each `??` for a token Handlebars can parse without moving any column.
// Before it: whoever has a source. After it: template-syntax.ts parses, compile-content.ts cuts out the pieces.
import type { AdviceValues } from "@postloft/contract/advice.ts";
import {
  faultOfTemplate,
  type TemplateFault,
  type TemplateFaultCode,
} from "@postloft/contract/template-faults.ts";
import { createLocator, problemAt, type TemplateProblem } from "./source-position.ts";
import {
  TEMPLATE_LENGTH_MAX_CHARACTERS,
  MUSTACHES_PER_TEMPLATE_MAX,
  MUSTACHE_CHARACTERS_PER_TEMPLATE_MAX,
  MUSTACHE_LENGTH_MAX_CHARACTERS,
  BLOCK_DEPTH_MAX,
  PARENTHESES_DEPTH_MAX,
  PATH_SEPARATORS_PER_MUSTACHE_MAX,
} from "./template-limits.ts";

/**
 * A part of the source. `value` prints something, `control` opens, divides or closes a block, `escape` is `\{{` (which
 * prints two braces), `raw` is a whole `{{{{raw}}}}` block. The pieces are in order and cover what can be printed.
 */
export interface TemplatePiece {
  kind: "content" | "value" | "control" | "comment" | "escape" | "raw";
  start: number;
  end: number;
}

export interface TemplateScan {
  /** In the order of the source; when there is one, the rest of the scan is not to be used. */
  problems: TemplateProblem[];
  pieces: TemplatePiece[];
  /** As long as the source, with every `??` replaced by `..`, for Handlebars' parser. */
  parserSource: string;
  /** Where each `??` stands, as `line:column` in Handlebars' count (lines from 1, columns from 0). */
  fallbacks: Map<string, TemplateProblem>;
}

/**
 * Stand-ins for U+2028 and U+2029 in `parserSource`: Handlebars' lexer counts columns wrong after them. Noncharacters
 * (Unicode 3.4, D14) never occur in text meant for people.
 */
export const LINE_SEPARATOR_STAND_IN = "\uFDD8";
export const PARAGRAPH_SEPARATOR_STAND_IN = "\uFDD9";

interface OpenBlock {
  start: number;
  /** Levels this block adds: 1, and 1 for each `{{else if}}` in it. */
  levels: number;
}

interface Scanner {
  source: string;
  pieces: TemplatePiece[];
  found: Array<{ offset: number; fault: TemplateFault }>;
  fallbackOffsets: number[];
  blocks: OpenBlock[];
  blockDepth: number;
  mustaches: number;
  mustacheCharacters: number;
}

/** How many blocks more stand open behind a control: of `{{#…}}` and `{{^name}}` one, of `{{/…}}` one less, of `{{else}}` and `{{^}}` none. */
export function depthChange(control: string): number {
  if (/^\{\{~?\//.test(control)) return -1;
  return /^\{\{~?(?:#|\^\s*[^\s~}])/.test(control) ? 1 : 0;
}

/** Scans a template. Cost is linear in the source and it stops at the first limit it meets. */
export function scanTemplate(source: string): TemplateScan {
  const scanner: Scanner = {
    source,
    pieces: [],
    found: [],
    fallbackOffsets: [],
    blocks: [],
    blockDepth: 0,
    mustaches: 0,
    mustacheCharacters: 0,
  };
  if (source.length > TEMPLATE_LENGTH_MAX_CHARACTERS) {
    refuse(scanner, 0, "template.long", { most: TEMPLATE_LENGTH_MAX_CHARACTERS });
  } else if (source.includes("\0")) {
    refuse(scanner, source.indexOf("\0"), "template.nul");
  } else {
    scanAll(scanner);
  }
  return finished(scanner);
}

function scanAll(scanner: Scanner): void {
  const { source, pieces } = scanner;
  let start = 0;
  let open = source.indexOf("{{");
  while (open !== -1) {
    const isEscaped = open > start && source[open - 1] === "\\";
    const isBackslash = isEscaped && open - 1 > start && source[open - 2] === "\\";
    // Handlebars: one backslash makes the braces text; of two, one is printed and the mustache counts.
    pieces.push({ kind: "content", start, end: isEscaped ? open - 1 : open });
    if (isEscaped && !isBackslash) {
      pieces.push({ kind: "escape", start: open - 1, end: open + 2 });
      start = open + 2;
    } else {
      const end = scanMustache(scanner, open);
      if (end === null) return;
      start = end;
    }
    open = source.indexOf("{{", start);
  }
  pieces.push({ kind: "content", start, end: source.length });
  for (const block of scanner.blocks) refuse(scanner, block.start, "template.blockOpen");
}

/** Scans the mustache at `open`, returns where it ends, or null when reading on makes no sense. */
function scanMustache(scanner: Scanner, open: number): number | null {
  const { source, pieces } = scanner;
  scanner.mustaches += 1;
  if (scanner.mustaches > MUSTACHES_PER_TEMPLATE_MAX)
    return refuse(scanner, open, "template.manyMustaches", { most: MUSTACHES_PER_TEMPLATE_MAX });
  const marker = source.startsWith("~", open + 2) ? open + 3 : open + 2;
  if (source[marker] === "!") return scanComment(scanner, open, marker);

  const raw = source.startsWith("{{{{", open);
  const close = raw ? "}}}}" : source[marker] === "{" ? "}}}" : "}}";
  const inside = raw ? open + 4 : close === "}}}" ? marker + 1 : marker;
  const end = scanInside(scanner, open, inside, close);
  if (end === null) return null;
  scanner.mustacheCharacters += end - open;
  if (scanner.mustacheCharacters > MUSTACHE_CHARACTERS_PER_TEMPLATE_MAX)
    return refuse(scanner, open, "template.longMustaches", { most: MUSTACHE_CHARACTERS_PER_TEMPLATE_MAX });
  if (raw) return scanRawBlock(scanner, open, end);

  const kind = scanRole(scanner, open, marker);
  if (kind === null) return null;
  pieces.push({ kind, start: open, end });
  return end;
}

function scanComment(scanner: Scanner, open: number, marker: number): number | null {
  const { source, pieces } = scanner;
  const ending = source.startsWith("--", marker + 1) ? /--~?\}\}/g : /\}\}/g;
  ending.lastIndex = marker + 1;
  if (ending.exec(source) === null) return refuse(scanner, open, "template.commentOpen");
  pieces.push({ kind: "comment", start: open, end: ending.lastIndex });
  return ending.lastIndex;
}

/** The body of a raw block is text up to its own end; raw blocks may stand inside raw blocks. */
function scanRawBlock(scanner: Scanner, open: number, bodyStart: number): number | null {
  const { source, pieces } = scanner;
  const fence = /\{\{\{\{(?:\/[^\s!"#%-,./;->@[-^`{-~]+\}\}\}\}|(?=[^/]))/g;
  fence.lastIndex = bodyStart;
  let depth = 1;
  for (let match = fence.exec(source); match !== null; match = fence.exec(source)) {
    depth += match[0].length === 4 ? 1 : -1;
    if (depth === 0) {
      pieces.push({ kind: "raw", start: open, end: fence.lastIndex });
      return fence.lastIndex;
    }
  }
  return refuse(scanner, open, "template.rawBlockOpen");
}

/** Walks over names, strings, `[segments]` and parentheses up to the closing braces; returns the offset after them. */
function scanInside(scanner: Scanner, open: number, inside: number, close: string): number | null {
  const { source } = scanner;
  const limit = Math.min(source.length, open + MUSTACHE_LENGTH_MAX_CHARACTERS);
  let parentheses = 0;
  let separators = 0;
  let at = inside;
  while (at < limit) {
    const character = source[at];
    if (character === "}" || (character === "~" && source[at + 1] === "}")) {
      return scanClose(scanner, open, at, close);
    }
    if (character === "{") return refuse(scanner, open, "template.mustacheOpen");
    if (character === '"' || character === "'" || character === "[") {
      const end = endOfQuoted(source, at, character === "[" ? "]" : character, limit);
      if (end === null)
        return refuse(scanner, at, character === "[" ? "template.nameOpen" : "template.stringOpen");
      at = end;
      continue;
    }
    if (character === "?" && source[at + 1] === "?") {
      scanner.fallbackOffsets.push(at);
      at += 2;
      continue;
    }
    if (character === "(") parentheses += 1;
    if (character === ")") parentheses -= 1;
    if (character === "." || character === "/") separators += 1;
    if (parentheses > PARENTHESES_DEPTH_MAX) {
      return refuse(scanner, at, "template.parentheses", { most: PARENTHESES_DEPTH_MAX });
    }
    if (separators > PATH_SEPARATORS_PER_MUSTACHE_MAX) {
      return refuse(scanner, at, "template.dots", { most: PATH_SEPARATORS_PER_MUSTACHE_MAX });
    }
    at += 1;
  }
  if (limit === source.length) return refuse(scanner, open, "template.mustacheOpen");
  return refuse(scanner, open, "template.mustacheLong", { most: MUSTACHE_LENGTH_MAX_CHARACTERS });
}

function scanClose(scanner: Scanner, open: number, at: number, close: string): number | null {
  // Longest first, as Handlebars' lexer does: `}}}` never is `}}` and a brace.
  const written = /\}\}\}\}|\}~?\}\}|~?\}\}|/y;
  written.lastIndex = at;
  const braces = written.exec(scanner.source)?.[0] ?? "";
  if (braces.replace("~", "") === close) return at + braces.length;
  return refuse(scanner, open, "template.otherEnd", { open: "{".repeat(close.length), close });
}

/** The offset after the closing quote or bracket; a backslash before it makes it part of the text. */
function endOfQuoted(source: string, start: number, quote: string, limit: number): number | null {
  for (let at = start + 1; at < limit; at += 1) {
    if (source[at] === "\\" && source[at + 1] === quote) at += 1;
    else if (source[at] === quote) return at + 1;
  }
  return null;
}

/** Tells what the mustache does by its first characters, and keeps the count of open blocks. */
function scanRole(scanner: Scanner, open: number, marker: number): "value" | "control" | null {
  const { source, blocks } = scanner;
  const sign = source[marker];
  if (sign === ">" || source.startsWith("#>", marker)) {
    refuse(scanner, open, "template.partial", { form: "{{> …}}" });
  } else if (sign === "*" || source.startsWith("#*", marker)) {
    refuse(scanner, open, "template.decorator", { form: "{{* …}}" });
  }
  if (sign === "/") {
    const block = blocks.pop();
    if (block === undefined) return refuse(scanner, open, "template.notOpened");
    scanner.blockDepth -= block.levels;
    return "control";
  }
  const divider = /(?:\^\s*|\s*else\s*)(?=~?\}\})|(\s*else\b)/y;
  divider.lastIndex = marker;
  const divided = divider.exec(source);
  const opens = divided === null && (sign === "#" || sign === "^");
  if (!opens && divided === null) return "value";

  if (opens) blocks.push({ start: open, levels: 0 });
  const block = blocks.at(-1);
  if (block === undefined) return refuse(scanner, open, "template.outside");
  if (opens || divided?.[1] !== undefined) {
    block.levels += 1;
    scanner.blockDepth += 1;
    if (scanner.blockDepth > BLOCK_DEPTH_MAX) {
      return refuse(scanner, open, "template.blocksDeep", { most: BLOCK_DEPTH_MAX });
    }
  }
  return "control";
}

function refuse(scanner: Scanner, offset: number, code: TemplateFaultCode, values: AdviceValues = {}): null {
  scanner.found.push({ offset, fault: faultOfTemplate(code, values) });
  return null;
}

function finished(scanner: Scanner): TemplateScan {
  const { source, found, fallbackOffsets, pieces } = scanner;
  const locate = createLocator(source);
  const offsets = found.sort((a, b) => a.offset - b.offset);
  const problems = offsets.map(({ offset, fault }) => problemAt(locate(offset), fault));
  if (problems.length > 0) return { problems, pieces, parserSource: "", fallbacks: new Map() };

  const fallbacks = new Map<string, TemplateProblem>();
  const locateFallback = createLocator(source);
  const fault = faultOfTemplate("template.fallbackAlone");
  let parserSource = "";
  let copied = 0;
  for (const offset of fallbackOffsets) {
    const { line, column } = locateFallback(offset);
    fallbacks.set(`${line}:${column - 1}`, problemAt({ line, column }, fault));
    parserSource += source.slice(copied, offset) + "..";
    copied = offset + 2;
  }
  parserSource += source.slice(copied);
  return { problems, pieces, parserSource: withStandIns(parserSource, pieces), fallbacks };
}

function withStandIns(parserSource: string, pieces: readonly TemplatePiece[]): string {
  if (!/[\u2028\u2029]/.test(parserSource)) return parserSource;
  let replaced = "";
  let copied = 0;
  for (const { kind, start, end } of pieces) {
    if (kind !== "content") continue;
    replaced += parserSource.slice(copied, start);
    replaced += parserSource
      .slice(start, end)
      .replaceAll("\u2028", LINE_SEPARATOR_STAND_IN)
      .replaceAll("\u2029", PARAGRAPH_SEPARATOR_STAND_IN);
    copied = end;
  }
  return replaced + parserSource.slice(copied);
}

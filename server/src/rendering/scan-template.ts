// Scans a template source once before Handlebars parses it. Finds mustaches, rejects sources that would be a parser bomb, and replaces
// unsupported syntax by tokens of the same length.
import type { AdviceValues } from "@postloft/contract/advice.ts";
import { faultOfTemplate, type TemplateFaultCode } from "@postloft/contract/template-faults.ts";
import { endOfForeign, type OpenBlock } from "./foreign-blocks.ts";
import { bareFallbackAt, endOfQuoted, literalAt, type Literal } from "./literals.ts";
import {
  TEMPLATE_LENGTH_MAX_CHARACTERS,
  MUSTACHES_PER_TEMPLATE_MAX,
  MUSTACHE_CHARACTERS_PER_TEMPLATE_MAX,
  MUSTACHE_LENGTH_MAX_CHARACTERS,
  BLOCK_DEPTH_MAX,
  PARENTHESES_DEPTH_MAX,
  PATH_SEPARATORS_PER_MUSTACHE_MAX,
} from "./template-limits.ts";
import { finishScan, type ScannedSource, type TemplateScan } from "./template-scan.ts";

interface Scanner extends ScannedSource {
  blocks: OpenBlock[];
  blockDepth: number;
  mustaches: number;
  mustacheCharacters: number;
}

/** Returns the change in block depth after a control: 1 for `{{#…}}` and `{{^name}}`, -1 for `{{/…}}`, 0 for `{{else}}` and `{{^}}`. */
export function depthChange(control: string): number {
  if (/^\{\{~?\//.test(control)) return -1;
  return /^\{\{~?(?:#|\^\s*[^\s~}])/.test(control) ? 1 : 0;
}

/** Scans a template in linear time and stops at the first exceeded limit. */
export function scanTemplate(source: string): TemplateScan {
  const scanner: Scanner = {
    source,
    pieces: [],
    found: [],
    fallbackOffsets: [],
    literals: [],
    foreignMustaches: [],
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
  return finishScan(scanner);
}

function scanAll(scanner: Scanner): void {
  const { source, pieces } = scanner;
  let start = 0;
  let open = source.indexOf("{{");
  while (open !== -1) {
    const mayBeForeign = scanner.foreignMustaches.length < MUSTACHES_PER_TEMPLATE_MAX;
    const foreignEnd = mayBeForeign ? endOfForeign(source, scanner.blocks, open) : null;
    if (foreignEnd !== null) {
      scanner.foreignMustaches.push({ start: open, end: foreignEnd });
      open = source.indexOf("{{", foreignEnd);
      continue;
    }
    const isEscaped = open > start && source[open - 1] === "\\";
    const isBackslash = isEscaped && open - 1 > start && source[open - 2] === "\\";
    // In Handlebars one backslash makes the braces literal; with two, one backslash is printed and the mustache is evaluated.
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
  for (const { start: from, foreign } of scanner.blocks)
    if (foreign === undefined) refuse(scanner, from, "template.blockOpen");
}

/** Scans the mustache at `open`. Returns the offset after it, or null if scanning cannot continue. */
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

/** Scans a raw block. Its body is text up to the matching end. Raw blocks may be nested. */
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

/** Skips names, strings, `[segments]` and parentheses up to the closing braces, and returns the offset after them. */
function scanInside(scanner: Scanner, open: number, inside: number, close: string): number | null {
  const { source } = scanner;
  const limit = Math.min(source.length, open + MUSTACHE_LENGTH_MAX_CHARACTERS);
  let parentheses = 0;
  let separators = 0;
  let bare: Literal | null = null;
  let at = inside;
  while (at < limit) {
    const character = source[at];
    const literal = bare?.start === at ? bare : literalAt(source, at, limit);
    if (literal === "open") return refuse(scanner, at, "template.stringOpen");
    if (literal !== null) {
      scanner.literals.push(literal);
      at = literal.end;
      continue;
    }
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
      if (parentheses === 0) bare = bareFallbackAt(source, inside, at, limit);
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
  // Longest match first like Handlebars' lexer: `}}}` is never `}}` and a brace.
  const written = /\}\}\}\}|\}~?\}\}|~?\}\}|/y;
  written.lastIndex = at;
  const braces = written.exec(scanner.source)?.[0] ?? "";
  if (braces.replace("~", "") === close) return at + braces.length;
  return refuse(scanner, open, "template.otherEnd", { open: "{".repeat(close.length), close });
}

/** Returns the role of the mustache by its first characters, and tracks open blocks. */
function scanRole(scanner: Scanner, open: number, marker: number): "value" | "control" | null {
  const { source, blocks } = scanner;
  const sign = source[marker];
  if (sign === ">" || source.startsWith("#>", marker)) {
    refuse(scanner, open, "template.partial", { form: "{{> …}}" });
  } else if (sign === "*" || source.startsWith("#*", marker)) {
    refuse(scanner, open, "template.decorator", { form: "{{* …}}" });
  }
  if (sign === "/") {
    while (blocks.at(-1)?.foreign !== undefined) blocks.pop();
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
  const block = blocks.findLast(({ foreign }) => foreign === undefined);
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

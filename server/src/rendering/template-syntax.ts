// The template language: Handlebars' grammar and built-in helpers plus `??` and comparisons, checked against an allow-list.

import Handlebars from "handlebars";
import { faultOfTemplate } from "@postloft/contract/template-faults.ts";
import {
  BLOCK_HELPERS,
  PRINT_HELPER,
  PRINT_LIST_HELPER,
  PRINT_UNESCAPED_HELPER,
  TRANSPARENT_HELPERS,
} from "./helper-names.ts";
import { withoutPlaceholders } from "./parser-source.ts";
import {
  calledExpression,
  foldFallbacks,
  report,
  rewriteExpression,
  simpleName,
  writtenName,
  type Rewriter,
} from "./rewrite-expressions.ts";
import { scanTemplate } from "./scan-template.ts";
import { problemAt, type TemplateProblem } from "./source-position.ts";
import { bodiesOf, isBlock, isContent, isMustache, noHash, pathTo } from "./template-tree.ts";

declare global {
  namespace Handlebars {
    /** Handlebars' generated parser. After an error the lexer is still at the token that failed. */
    const Parser: { lexer: { yylloc: { first_line: number; first_column: number } } };
  }
}

/** Maximum number of problems returned for a template. */
const PROBLEMS_MAX = 50;

export interface ParsedTemplate {
  /** null when there are problems. */
  program: hbs.AST.Program | null;
  problems: TemplateProblem[];
}

export interface ParseOptions {
  /** Keeps the white space around blocks that are alone on a line, which Handlebars removes otherwise. */
  ignoreStandalone?: boolean;
  /** Applied to the text between the mustaches. */
  mapContent?: (content: string) => string;
}

/**
 * Checks a template: syntax, helpers, partials, decorators and the limits of template-limits.ts.
 * Returns the problems in source order; an empty list means that the template compiles.
 */
export function checkTemplate(source: string): TemplateProblem[] {
  return parseTemplate(source).problems;
}

/**
 * Parses a template into a Handlebars tree in which `a ?? b` is a call of FALLBACK_HELPER.
 * All output passes through PRINT_LIST_HELPER, PRINT_HELPER or PRINT_UNESCAPED_HELPER, so that no value can break rendering.
 */
export function parseTemplate(source: string, options: ParseOptions = {}): ParsedTemplate {
  if (typeof source !== "string")
    throw new TypeError("A template is a string; Handlebars would run a tree as code.");
  const scan = scanTemplate(source);
  if (scan.problems.length > 0) return { program: null, problems: scan.problems };

  let program: hbs.AST.Program;
  try {
    program = Handlebars.parse(scan.parserSource, { ignoreStandalone: options.ignoreStandalone ?? false });
  } catch (error) {
    return { program: null, problems: [syntaxProblem(error)] };
  }
  const rewriter: Rewriter = {
    source,
    lines: null,
    problems: [],
    fallbacks: scan.fallbacks,
    literals: scan.literals,
    mapContent: options.mapContent,
    isInTag: false,
    foreignDepth: 0,
  };
  rewriteProgram(rewriter, program);
  // A misplaced `??` also makes its neighbors look wrong, so only the `??` is reported.
  const misplaced = [...rewriter.fallbacks.values()];
  const problems = (misplaced.length > 0 ? misplaced : rewriter.problems).slice(0, PROBLEMS_MAX);
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { program: problems.length === 0 ? program : null, problems };
}

function syntaxProblem(error: unknown): TemplateProblem {
  if (error instanceof Handlebars.Exception && typeof error.lineNumber === "number") {
    const said = error.message.replace(/ - \d+:\d+$/, "");
    const place = { line: error.lineNumber, column: Number(error.column) + 1 };
    const [, block, other] = /^(.*) doesn't match (.*)$/.exec(said) ?? [];
    if (block === undefined || other === undefined) return { ...place, message: `${said}.` };
    return problemAt(place, faultOfTemplate("template.closedAs", { block, other }));
  }
  if (!(error instanceof Error) || !/^(?:Parse|Lexical) error/.test(error.message)) throw error;
  const { first_line: line, first_column: column } = Handlebars.Parser.lexer.yylloc;
  const token = / got '(\w+)'$/.exec(error.message)?.[1] ?? "";
  const what = TOKEN_NAMES.get(token) ?? "This";
  return problemAt({ line, column: column + 1 }, faultOfTemplate("template.unexpected", { what }));
}

/** Readable names for lexer tokens. */
const TOKEN_NAMES = new Map([
  ["EOF", "The end of the template"],
  ["CLOSE", "The end of the mustache"],
  ["CLOSE_UNESCAPED", "The end of the mustache"],
  ["CLOSE_RAW_BLOCK", "The end of the mustache"],
  ["INVALID", "This character"],
  ["EQUALS", "="],
  ["SEP", "A dot or slash"],
  ["OPEN_SEXPR", "("],
  ["CLOSE_SEXPR", ")"],
  ["STRING", "A string"],
  ["NUMBER", "A number"],
  ["ID", "A name"],
  ["INVERSE", "{{else}}"],
  ["OPEN_INVERSE_CHAIN", "{{else …}}"],
  ["OPEN_ENDBLOCK", "The end of a block"],
]);

/** Rewrites a program. The scanner's BLOCK_DEPTH_MAX bounds the depth. */
function rewriteProgram(rewriter: Rewriter, program: hbs.AST.Program): void {
  for (const statement of program.body) rewriteStatement(rewriter, statement);
}

function rewriteStatement(rewriter: Rewriter, statement: hbs.AST.Statement): void {
  if (isContent(statement)) {
    const text = withoutPlaceholders(statement.value);
    rewriter.isInTag = endsInTag(text, rewriter.isInTag);
    statement.value = rewriter.mapContent?.(text) ?? text;
  } else if (isMustache(statement)) {
    const printed = calledExpression(rewriter, statement);
    const helper = rewriter.isInTag ? PRINT_HELPER : PRINT_LIST_HELPER;
    statement.path = pathTo(statement.escaped ? helper : PRINT_UNESCAPED_HELPER, statement.loc);
    statement.params = [printed];
    statement.hash = noHash(statement.loc);
  } else if (isBlock(statement)) {
    rewriteBlock(rewriter, statement);
  } else if (statement.type !== "CommentStatement") {
    report(rewriter, statement, "template.partialOrDecorator");
  }
}

function rewriteBlock(rewriter: Rewriter, block: hbs.AST.BlockStatement): void {
  const name = simpleName(block.path);
  const options = name === null ? undefined : BLOCK_HELPERS.get(name);
  const input = block.params.length + (block.hash?.pairs.length ?? 0);
  block.params = foldFallbacks(rewriter, block.params);
  if (options !== undefined) {
    if (block.params.length !== 1)
      report(rewriter, block.path, "template.oneValue", { helper: `{{#${name}}}` });
    for (const { key } of block.hash?.pairs ?? []) {
      if (!options.includes(key))
        report(rewriter, block.path, "template.option", { helper: `{{#${name}}}`, option: key });
    }
  } else if (name === "lookup" || input > 0) {
    const helpers = [...BLOCK_HELPERS.keys()].join(", ");
    report(rewriter, block.path, "template.blockHelper", { name: writtenName(block.path), helpers });
  }
  for (const pair of block.hash?.pairs ?? []) pair.value = rewriteExpression(rewriter, pair.value);
  const stepsInto = name === null || !TRANSPARENT_HELPERS.has(name);
  for (const program of bodiesOf(block)) {
    const isForeign = stepsInto && program === block.program;
    rewriter.foreignDepth += Number(isForeign);
    rewriteProgram(rewriter, program);
    rewriter.foreignDepth -= Number(isForeign);
  }
}

function endsInTag(text: string, before: boolean): boolean {
  const open = text.lastIndexOf("<");
  const close = text.lastIndexOf(">");
  if (open === close) return before;
  return open > close && /[A-Za-z/!]/.test(text[open + 1] ?? "");
}

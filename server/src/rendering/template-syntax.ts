// The template language: Handlebars' grammar and built-in helpers plus `??`, checked against an allow-list.
// Before it: scan-template.ts. After it: compile-template.ts turns the tree into a function.

import Handlebars from "handlebars";
import type { AdviceValues } from "@postloft/contract/advice.ts";
import { faultOfTemplate, type TemplateFaultCode } from "@postloft/contract/template-faults.ts";
import { LINE_SEPARATOR_STAND_IN, PARAGRAPH_SEPARATOR_STAND_IN, scanTemplate } from "./scan-template.ts";
import { problemAt, type TemplateProblem } from "./source-position.ts";
import {
  bodiesOf,
  isBlock,
  isContent,
  isMustache,
  isPath,
  isSubExpression,
  noHash,
  pathTo,
} from "./template-tree.ts";

declare global {
  namespace Handlebars {
    /** Handlebars' generated parser; after it threw, the lexer still stands at the token it could not use. */
    const Parser: { lexer: { yylloc: { first_line: number; first_column: number } } };
  }
}

/** Names of our own helpers in the tree. No source can name them: NUL is refused by the scanner. */
export const PRINT_HELPER = "\0print";
export const PRINT_UNESCAPED_HELPER = "\0print-unescaped";
export const FALLBACK_HELPER = "\0fallback";

/** The block helpers, each of which takes one value, with the options it knows (`includeZero=true`). */
const BLOCK_HELPERS = new Map<string, readonly string[]>([
  ["if", ["includeZero"]],
  ["unless", ["includeZero"]],
  ["each", []],
  ["with", []],
]);
const LOOKUP_PARAMETERS = 2;
/** So many problems of a template are told. */
const PROBLEMS_MAX = 50;

export interface ParsedTemplate {
  /** Null when there are problems. */
  program: hbs.AST.Program | null;
  problems: TemplateProblem[];
}

export interface ParseOptions {
  /** Leaves the white space around blocks that stand alone on a line; Handlebars removes it otherwise. */
  ignoreStandalone?: boolean;
  /** Applied to the text between the mustaches. */
  mapContent?: (content: string) => string;
}

/**
 * Checks a template: syntax, helpers, partials, decorators and the limits of scan-template.ts.
 * Returns what is wrong, in the order of the source; an empty list means that the template will compile.
 */
export function checkTemplate(source: string): TemplateProblem[] {
  return parseTemplate(source).problems;
}

/**
 * Parses a template into a Handlebars tree in which `a ?? b` is a call of FALLBACK_HELPER and everything that is
 * printed goes through PRINT_HELPER (or PRINT_UNESCAPED_HELPER), so that no value can break the rendering.
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
  const rewriter: Rewriter = { problems: [], fallbacks: scan.fallbacks, mapContent: options.mapContent };
  rewriteProgram(rewriter, program);
  // A `??` out of place makes its neighbours look wrong too; then it alone is worth saying.
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

/** The lexer's names for what people write. */
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

interface Rewriter {
  problems: TemplateProblem[];
  /** `??` not yet seen in the tree. */
  fallbacks: Map<string, TemplateProblem>;
  mapContent: ((content: string) => string) | undefined;
}

/** Depth is bounded by the scanner's BLOCK_DEPTH_MAX. */
function rewriteProgram(rewriter: Rewriter, program: hbs.AST.Program): void {
  for (const statement of program.body) rewriteStatement(rewriter, statement);
}

function rewriteStatement(rewriter: Rewriter, statement: hbs.AST.Statement): void {
  if (isContent(statement)) {
    const text = statement.value
      .replaceAll(LINE_SEPARATOR_STAND_IN, "\u2028")
      .replaceAll(PARAGRAPH_SEPARATOR_STAND_IN, "\u2029");
    statement.value = rewriter.mapContent?.(text) ?? text;
  } else if (isMustache(statement)) {
    const printed = calledExpression(rewriter, statement);
    statement.path = pathTo(statement.escaped ? PRINT_HELPER : PRINT_UNESCAPED_HELPER, statement.loc);
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
  const given = block.params.length + (block.hash?.pairs.length ?? 0);
  block.params = foldFallbacks(rewriter, block.params);
  if (options !== undefined) {
    if (block.params.length !== 1)
      report(rewriter, block.path, "template.oneValue", { helper: `{{#${name}}}` });
    for (const { key } of block.hash?.pairs ?? []) {
      if (!options.includes(key))
        report(rewriter, block.path, "template.option", { helper: `{{#${name}}}`, option: key });
    }
  } else if (name === "lookup" || given > 0) {
    const helpers = [...BLOCK_HELPERS.keys()].join(", ");
    report(rewriter, block.path, "template.blockHelper", { name: writtenName(block.path), helpers });
  }
  for (const pair of block.hash?.pairs ?? []) pair.value = rewriteExpression(rewriter, pair.value);
  for (const program of bodiesOf(block)) rewriteProgram(rewriter, program);
}

/** What a mustache or a parenthesis means: a variable, a chain of `??`, or a call of `lookup`. */
function calledExpression(
  rewriter: Rewriter,
  call: hbs.AST.MustacheStatement | hbs.AST.SubExpression,
): hbs.AST.Expression {
  const isParenthesis = call.type === "SubExpression";
  const pairs = call.hash?.pairs ?? [];
  const first = pathOrLiteralName(call.path);
  if (call.params.length === 0 && pairs.length === 0 && !isParenthesis) return first;

  const name = writtenName(first);
  if (call.params[0] !== undefined && takeFallback(rewriter, call.params[0], false)) {
    const [chain, ...rest] = foldFallbacks(rewriter, [first, ...call.params]);
    if (rest.length > 0 || pairs.length > 0) report(rewriter, rest[0] ?? call, "template.fallbackFollowed");
    return chain ?? first;
  }
  const params = foldFallbacks(rewriter, call.params);
  if (simpleName(first) === "lookup") {
    if (params.length !== LOOKUP_PARAMETERS || pairs.length > 0)
      report(rewriter, call, "template.twoValues", { helper: "lookup" });
    return parenthesis(first, params);
  }
  if (BLOCK_HELPERS.has(name) && simpleName(first) !== null) {
    report(rewriter, call, "template.isBlock", { name, form: `{{#${name} …}} … {{/${name}}}` });
  } else {
    const words = [first, ...call.params].map((word) => simpleName(word));
    if (words.includes(null)) report(rewriter, call, "template.helper", { name });
    else report(rewriter, call, "template.helperOrName", { name, form: `{{[${words.join(" ")}]}}` });
  }
  return first;
}

/** Depth is bounded by the scanner's PARENTHESES_DEPTH_MAX. */
function rewriteExpression(rewriter: Rewriter, expression: hbs.AST.Expression): hbs.AST.Expression {
  return isSubExpression(expression) ? calledExpression(rewriter, expression) : expression;
}

/** Makes one call out of every `value ?? value ?? …` in a list of values. */
function foldFallbacks(rewriter: Rewriter, values: readonly hbs.AST.Expression[]): hbs.AST.Expression[] {
  const folded: hbs.AST.Expression[] = [];
  const chains = new Set<hbs.AST.SubExpression>();
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (value === undefined) break;
    const before = folded.at(-1);
    const after = values[index + 1];
    if (!takeFallback(rewriter, value, before !== undefined && after !== undefined)) {
      folded.push(rewriteExpression(rewriter, value));
    } else if (before !== undefined && after !== undefined) {
      const next = rewriteExpression(rewriter, after);
      if (isSubExpression(before) && chains.has(before)) {
        before.params.push(next);
      } else {
        const chain = parenthesis(pathTo(FALLBACK_HELPER, before.loc), [before, next]);
        chains.add(chain);
        folded[folded.length - 1] = chain;
      }
      index += 1;
    }
  }
  return folded;
}

/**
 * Whether the expression is one of the scanner's `??` (a lone `..` in the tree) and not an author's `..`.
 * @param used whether it has values on both sides; a `??` that never is used is reported at the end.
 */
function takeFallback(rewriter: Rewriter, expression: hbs.AST.Expression, used: boolean): boolean {
  if (!isPath(expression) || expression.original !== "..") return false;
  const { line, column } = expression.loc.start;
  const place = `${line}:${column}`;
  const isFallback = rewriter.fallbacks.has(place);
  if (isFallback && used) rewriter.fallbacks.delete(place);
  return isFallback;
}

/** `{{"first name"}}` and `{{12}}` are variables of that name in Handlebars. */
function pathOrLiteralName(path: hbs.AST.PathExpression | hbs.AST.Literal): hbs.AST.PathExpression {
  if (isPath(path)) return path;
  return pathTo("original" in path ? String(path.original) : String(path.type), path.loc);
}

function parenthesis(path: hbs.AST.PathExpression, params: hbs.AST.Expression[]): hbs.AST.SubExpression {
  return { type: "SubExpression", path, params, hash: noHash(path.loc), loc: path.loc };
}

/** The name by which Handlebars would take a path for a helper's: one part, neither scoped nor `@data`. */
function simpleName(path: hbs.AST.Expression): string | null {
  if (!isPath(path) || path.parts.length !== 1) return null;
  return path.original === path.parts[0] ? path.original : null;
}

function writtenName(expression: hbs.AST.Expression): string {
  return isPath(expression) ? expression.original : "";
}

function report(
  rewriter: Rewriter,
  node: hbs.AST.Node,
  code: TemplateFaultCode,
  values: AdviceValues = {},
): void {
  const { line, column } = node.loc.start;
  rewriter.problems.push(problemAt({ line, column: column + 1 }, faultOfTemplate(code, values)));
}

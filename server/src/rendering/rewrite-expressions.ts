// Checks and rewrites the expressions of a template's tree: `a ?? b` becomes a call of FALLBACK_HELPER, and `eq` a call of COMPARE_HELPER.
import type { AdviceValues } from "@postloft/contract/advice.ts";
import { faultOfTemplate, type TemplateFaultCode } from "@postloft/contract/template-faults.ts";
import { COMPARISONS } from "./comparisons.ts";
import { BLOCK_HELPERS, COMPARE_HELPER, FALLBACK_HELPER, WORD_HELPER } from "./helper-names.ts";
import { TEXT_STAND_IN } from "./parser-source.ts";
import { problemAt, type TemplateProblem } from "./source-position.ts";
import { spacedNameOf } from "./spaced-names.ts";
import { isPath, isSubExpression, noHash, pathTo } from "./template-tree.ts";
import { BUILT_IN_VARIABLES } from "./template-variables.ts";

const LOOKUP_PARAMETERS = 2;

export interface Rewriter {
  problems: TemplateProblem[];
  /** `??` signs not yet found in the tree. */
  fallbacks: Map<string, TemplateProblem>;
  /** Texts by the position of their placeholder. */
  literals: ReadonlyMap<string, string>;
  mapContent: ((content: string) => string) | undefined;
  source: string;
  /** Lines of the source, split on first use. */
  lines: readonly string[] | null;
  /** Whether the preceding text ends inside a tag, where an array cannot be a list. */
  isInTag: boolean;
  /** Number of enclosing blocks in which names refer to an item or object. */
  foreignDepth: number;
}

/** Returns the expression of a mustache or parenthesis: a variable, a chain of `??`, or a helper call. */
export function calledExpression(
  rewriter: Rewriter,
  call: hbs.AST.MustacheStatement | hbs.AST.SubExpression,
): hbs.AST.Expression {
  const isParenthesis = call.type === "SubExpression";
  const pairs = call.hash?.pairs ?? [];
  const first = pathOrLiteralName(rewriter, call.path);
  if (call.params.length === 0 && pairs.length === 0 && !isParenthesis) return first;

  const name = writtenName(first);
  if (call.params[0] !== undefined && takeFallback(rewriter, call.params[0], false)) {
    const [chain, ...rest] = foldFallbacks(rewriter, [first, ...call.params]);
    if (rest.length > 0 || pairs.length > 0) report(rewriter, rest[0] ?? call, "template.fallbackFollowed");
    if (!isParenthesis && rewriter.foreignDepth === 0 && chain !== undefined) allowBareWord(chain);
    return chain ?? first;
  }
  const params = foldFallbacks(rewriter, call.params);
  if (simpleName(first) === "lookup") {
    if (params.length !== LOOKUP_PARAMETERS || pairs.length > 0)
      report(rewriter, call, "template.twoValues", { helper: "lookup" });
    return parenthesis(first, params);
  }
  const helper = COMPARISONS.get(simpleName(first) ?? "");
  if (helper !== undefined && (isParenthesis || params.length > 0)) {
    if (params.length < helper.least || params.length > helper.most || pairs.length > 0)
      report(rewriter, call, COUNT_FAULTS[helper.most] ?? "template.severalValues", { helper: name });
    return parenthesis(pathTo(COMPARE_HELPER, first.loc), [textOf(name, first.loc), ...params]);
  }
  reportUnknown(rewriter, call, first);
  return first;
}

const COUNT_FAULTS: Readonly<Record<number, TemplateFaultCode>> = {
  1: "template.oneValue",
  2: "template.twoValues",
};

/** Reports a call of an unknown helper, of a block helper, or of a name with spaces. */
function reportUnknown(
  rewriter: Rewriter,
  call: hbs.AST.MustacheStatement | hbs.AST.SubExpression,
  first: hbs.AST.PathExpression,
): void {
  const name = writtenName(first);
  const spaced = spacedNameOf(linesOf(rewriter), call.loc);
  if (BLOCK_HELPERS.has(name) && simpleName(first) !== null)
    report(rewriter, call, "template.isBlock", { name, form: `{{#${name} …}} … {{/${name}}}` });
  else if (spaced !== null) report(rewriter, call, "template.helperOrName", { name, ...spaced });
  else report(rewriter, call, "template.helper", { name });
}

/** Allows the last value of a chain to be a word instead of a variable: `{{firstName ?? there}}`. */
function allowBareWord(chain: hbs.AST.Expression): void {
  if (!isSubExpression(chain)) return;
  const last = chain.params.at(-1);
  const word = last === undefined ? null : simpleName(last);
  if (last === undefined || word === null || BUILT_IN_VARIABLES.includes(word)) return;
  chain.params[chain.params.length - 1] = parenthesis(pathTo(WORD_HELPER, last.loc), [
    last,
    textOf(word, last.loc),
  ]);
}

/** Rewrites an expression. The scanner's PARENTHESES_DEPTH_MAX bounds the depth. */
export function rewriteExpression(rewriter: Rewriter, expression: hbs.AST.Expression): hbs.AST.Expression {
  if (isSubExpression(expression)) return calledExpression(rewriter, expression);
  const text = literalOf(rewriter, expression);
  if (text === undefined) return expression;
  return textOf(text, expression.loc);
}

/** Combines every `value ?? value ?? …` in a list of values into one call. */
export function foldFallbacks(
  rewriter: Rewriter,
  values: readonly hbs.AST.Expression[],
): hbs.AST.Expression[] {
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
 * Returns whether the expression is a `??` from the scanner (a lone `..` in the tree) rather than an author's `..`.
 * @param used whether the `??` has values on both sides; an unused one is reported at the end.
 */
function takeFallback(rewriter: Rewriter, expression: hbs.AST.Expression, used: boolean): boolean {
  if (!isPath(expression) || expression.original !== "..") return false;
  const { line, column } = expression.loc.start;
  const place = `${line}:${column}`;
  const isFallback = rewriter.fallbacks.has(place);
  if (isFallback && used) rewriter.fallbacks.delete(place);
  return isFallback;
}

/** Returns the text that a placeholder replaces. */
function literalOf(rewriter: Rewriter, expression: hbs.AST.Expression): string | undefined {
  if (!isPath(expression) || expression.original !== TEXT_STAND_IN) return undefined;
  const { line, column } = expression.loc.start;
  return rewriter.literals.get(`${line}:${column}`);
}

/** Returns the path of a call. `{{"first name"}}` and `{{12}}` are variables of that name in Handlebars. */
function pathOrLiteralName(
  rewriter: Rewriter,
  path: hbs.AST.PathExpression | hbs.AST.Literal,
): hbs.AST.PathExpression {
  const text = literalOf(rewriter, path);
  if (text !== undefined) return pathTo(text, path.loc);
  if (isPath(path)) return path;
  return pathTo("original" in path ? String(path.original) : String(path.type), path.loc);
}

function textOf(value: string, loc: hbs.AST.SourceLocation): hbs.AST.StringLiteral {
  return { type: "StringLiteral", value, original: value, loc };
}

function parenthesis(path: hbs.AST.PathExpression, params: hbs.AST.Expression[]): hbs.AST.SubExpression {
  return { type: "SubExpression", path, params, hash: noHash(path.loc), loc: path.loc };
}

/** Returns the name under which Handlebars would look up a helper: a single part, neither scoped nor `@data`. */
export function simpleName(path: hbs.AST.Expression): string | null {
  if (!isPath(path) || path.parts.length !== 1) return null;
  return path.original === path.parts[0] ? path.original : null;
}

export function writtenName(expression: hbs.AST.Expression): string {
  return isPath(expression) ? expression.original : "";
}

export function report(
  rewriter: Rewriter,
  node: hbs.AST.Node,
  code: TemplateFaultCode,
  values: AdviceValues = {},
): void {
  const { line, column } = node.loc.start;
  rewriter.problems.push(problemAt({ line, column: column + 1 }, faultOfTemplate(code, values)));
}

/** Returns the lines of the source, split only when a message needs them. */
function linesOf(rewriter: Rewriter): readonly string[] {
  rewriter.lines ??= rewriter.source.split(/\r\n?|\n/);
  return rewriter.lines;
}

// Converts conditions of Liquid and Mailchimp into ours: `plan == "pro" and not trial` becomes `(and (eq plan "pro") (not trial))`.
import { writtenString } from "./variables.ts";

/** Returns our path for a name in a condition. */
export type PathOf = (name: string) => string;

const TOKEN = /"[^"]*"|'[^']*'|[=!<>]=|<>|[<>]|[^\s"'=!<>]+/g;
const HELPERS: Readonly<Record<string, string>> = {
  "==": "eq",
  "=": "eq",
  "!=": "ne",
  "<>": "ne",
  ">": "gt",
  ">=": "gte",
  "<": "lt",
  "<=": "lte",
};
const EMPTY = new Set(["nil", "null", "none", "blank", "empty", '""', "''"]);
const LITERAL = /^(?:true|false|-?\d{1,15}(?:\.\d{1,15})?)$/;
const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*$/u;
/** Longer conditions are not converted. */
const TOKENS_MAX = 60;

/** Returns the condition in our language, or null if it has no equivalent. Adds parentheses unless it is just a name. */
export function convertCondition(condition: string, pathOf: PathOf): string | null {
  const tokens = condition.match(TOKEN) ?? [];
  if (tokens.length === 0 || tokens.length > TOKENS_MAX) return null;
  return joined(tokens, pathOf);
}

/** Liquid has no precedence, so the first `and` or `or` splits the condition and the rest belongs together. */
function joined(tokens: readonly string[], pathOf: PathOf): string | null {
  const at = tokens.findIndex((token) => token === "and" || token === "or");
  if (at === -1) return comparison(tokens, pathOf);
  const one = comparison(tokens.slice(0, at), pathOf);
  const rest = joined(tokens.slice(at + 1), pathOf);
  return one === null || rest === null ? null : `(${tokens[at]} ${one} ${rest})`;
}

function comparison(tokens: readonly string[], pathOf: PathOf): string | null {
  if (tokens[0] === "not") {
    const inner = comparison(tokens.slice(1), pathOf);
    return inner === null ? null : `(not ${inner})`;
  }
  const [left = "", operator, right] = tokens;
  const value = operand(left, pathOf);
  if (value === null || tokens.length === 1) return value;
  const helper = HELPERS[operator ?? ""];
  if (helper === undefined || right === undefined || tokens.length > 3) return null;
  if (EMPTY.has(right)) return helper === "eq" ? `(not ${value})` : helper === "ne" ? value : null;
  const other = operand(right, pathOf);
  return other === null ? null : `(${helper} ${value} ${other})`;
}

function operand(token: string, pathOf: PathOf): string | null {
  if (/^["']/.test(token)) return writtenString(token.slice(1, -1));
  if (LITERAL.test(token)) return token;
  return NAME.test(token) ? pathOf(token) : null;
}

const MAILCHIMP = /^([\w:]{1,100}?)\s*(!=|>=|<=|=|>|<)\s*(.*)$/;

/**
 * Returns a Mailchimp condition in our language: `PLAN=pro` has no quotes.
 * @param pathOf may return null for a name without an equivalent
 */
export function convertMailchimpCondition(
  condition: string,
  pathOf: (name: string) => string | null,
): string | null {
  const [, name = condition.trim(), operator, value = ""] = MAILCHIMP.exec(condition.trim()) ?? [];
  const path = pathOf(name);
  if (path === null) return null;
  if (operator === undefined) return path;
  return `(${HELPERS[operator]} ${path} ${writtenString(value.trim())})`;
}

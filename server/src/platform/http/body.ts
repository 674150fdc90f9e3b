// Reads a JSON body and finds values that must not reach a rule or the database. Such values are broken text, NUL, infinite numbers and
// bombs.
import { isUtf8 } from "node:buffer";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import { asMessage, withValues, type Wording } from "@postloft/contract/translation.ts";
import { invalidField, AppError } from "../app-error.ts";

/** Keys that could reach the prototype of an object that code builds (reliability case S20). */
const DANGEROUS_KEYS = new Set(["__proto__", "constructor", "prototype"]);
/** The maximum number of reported fields, because a hostile body could contain a million. */
const MAX_PROBLEMS = 50;
/** The maximum length of a path, because it contains names that the caller chose. */
const MAX_FIELD_LENGTH = 200;

/**
 * Returns the value of a JSON body, or `undefined` if it is empty.
 * @throws AppError INVALID_REQUEST_BODY if it is not JSON, VALIDATION_ERROR if it contains too many values
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new AppError("INVALID_REQUEST_BODY", { message: "The body is not valid UTF-8." });
  // Checked before parsing, because a megabyte of `{},` takes a tenth of a second and 60 of them more memory than there is.
  if (holdsTooManyValues(bytes))
    throw invalidField(
      "body",
      "too_big",
      withValues("Must contain at most {most} values.", { most: LIMITS.bodyValues.value }),
    );
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError(
      "INVALID_REQUEST_BODY",
      withValues("The body is not valid JSON: {reason}", { reason: reason.slice(0, 200) }),
    );
  }
}

/** How many bytes of a string are checked in a loop before searching the rest. */
const LOOKED_AT = 32;
const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;

/** Counts the characters that precede a value outside of strings. Strings are skipped at memory speed. */
function holdsTooManyValues(bytes: Buffer): boolean {
  const most = LIMITS.bodyValues.value;
  let count = 0;
  for (let at = 0; at < bytes.length && count <= most; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
  }
  return count > most;
}

function endOfString(bytes: Buffer, start: number): number {
  // Most strings are short, so a loop is faster than a search, and much faster for a megabyte of quotes.
  const near = Math.min(bytes.length, start + 1 + LOOKED_AT);
  let quote = start + 1;
  while (quote < near && bytes[quote] !== QUOTE) quote++;
  if (quote === near) quote = bytes.indexOf(QUOTE, near);
  if (quote === -1) return bytes.length;
  if (bytes[quote - 1] !== BACKSLASH) return quote;
  // From the first escaped quote on, goes byte by byte, because a search from each of a million quotes would take longer.
  let at = quote - 1;
  while (at > start + 1 && bytes[at - 1] === BACKSLASH) at--;
  for (; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

export interface HostileValues {
  problems: FieldError[];
  /** Nested deeper than any schema may follow. */
  tooDeep: boolean;
}

/** Walks the whole body without recursion, so that deep nesting is harmless. */
export function findHostileValues(body: unknown): HostileValues {
  const problems: FieldError[] = [];
  let tooDeep = false;
  const waiting = [{ value: body, path: "", depth: 0 }];
  const notify = (path: string, code: FieldError["code"], wording: Wording) =>
    problems.push({ field: path.slice(0, MAX_FIELD_LENGTH), code, ...asMessage(wording) });
  for (let next = waiting.pop(); next !== undefined && problems.length < MAX_PROBLEMS; next = waiting.pop()) {
    const { value, path, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth >= LIMITS.jsonDepth.value) {
      tooDeep = true;
      notify(
        path,
        "too_big",
        withValues("Nested more than {most} levels deep.", { most: LIMITS.jsonDepth.value }),
      );
      continue;
    }
    for (const key of Object.keys(value)) {
      const inner = (value as Record<string, unknown>)[key];
      const problem = keyProblem(key) ?? scalarProblem(inner);
      if (problem === null && typeof inner !== "object") continue;
      const innerPath = path === "" ? key : `${path}.${key}`;
      if (problem === null) waiting.push({ value: inner, path: innerPath, depth: depth + 1 });
      else notify(innerPath, "custom", problem);
      if (problems.length >= MAX_PROBLEMS) break;
    }
  }
  return { problems, tooDeep };
}

function keyProblem(key: string): Wording | null {
  return DANGEROUS_KEYS.has(key) ? withValues("The name {key} is not allowed.", { key }) : textProblem(key);
}

function scalarProblem(value: unknown): string | null {
  if (typeof value === "string") return textProblem(value);
  if (typeof value === "number" && !Number.isFinite(value)) return "The number is too large.";
  return null;
}

function textProblem(text: string): string | null {
  if (text.includes("\u0000")) return "Must not contain NUL characters.";
  if (!text.isWellFormed()) return "Must be valid Unicode without unpaired surrogates.";
  return null;
}

// Writes our variables and strings in place of merge tags.
import type { Meaning } from "./dialects.ts";

/** The project data that a conversion needs. */
export interface MergeTagContext {
  /** Names of contact fields and of the call's own data, without `data.`. */
  fields: ReadonlySet<string>;
  projectName: string;
  postalAddress: string | null;
  year: number;
}

/** Also maps fields by their letters, so that a name is found without a search. */
export interface NamedContext extends MergeTagContext {
  byLetters: ReadonlyMap<string, string>;
}

/** Returns the context for {@link pathOfField}, created once per email. */
export function withNames(context: MergeTagContext): NamedContext {
  return { ...context, byLetters: new Map([...context.fields].map((field) => [lettersOf(field), field])) };
}

/** A name without the characters that Handlebars reads as syntax, and without `?`, which could begin a fallback. */
const PLAIN_NAME = /^[^\s!"#%&'()*+,./;<=>?@[\\\]^`{|}~]+$/;
/** Handlebars reads these words and plain numbers as values or keywords. */
const LITERAL = /^(?:true|false|null|undefined|this|else|as|-?\d+(?:\.\d+)?)$/;
const WORDS = /[\p{L}\p{N}]+/gu;

/** Returns a name in template syntax, with brackets if it contains a space or a sign: `[First Name]`. */
export function writtenName(name: string): string {
  const isPlain = PLAIN_NAME.test(name) && !LITERAL.test(name);
  return isPlain ? name : `[${name.replaceAll("]", String.raw`\]`)}]`;
}

/** Returns a text as a string literal of the template language. */
export function writtenString(text: string): string {
  return `"${text.replaceAll("\\", "").replaceAll('"', String.raw`\"`)}"`;
}

/**
 * Returns the path for a field of another service. A field of the project with the same letters wins, so that `*|FIRST_NAME|*` finds `First
 * Name`.
 */
export function pathOfField(name: string, keepsNames: boolean, context: NamedContext): string {
  const field = context.fields.has(name) ? name : context.byLetters.get(lettersOf(name));
  if (field !== undefined) return writtenName(field);
  if (keepsNames) return name.split(".").map(writtenName).join(".");
  return writtenName(camelCase(name));
}

/** Returns the path printed by a meaning, or null if it is not a variable. */
export function pathOf(meaning: Meaning, context: NamedContext): string | null {
  if (meaning === null || "text" in meaning) return null;
  return "variable" in meaning ? meaning.variable : pathOfField(meaning.field, true, context);
}

/**
 * Returns the replacement of a tag, or null without an equivalent.
 *
 * @param isHtml whether a fixed text has to be escaped
 */
export function replacementOf(meaning: Meaning, context: NamedContext, isHtml: boolean): string | null {
  const path = pathOf(meaning, context);
  if (path !== null) return `{{${path}}}`;
  if (meaning === null || !("text" in meaning)) return null;
  const text = textOf(meaning.text, context);
  return isHtml ? escaped(text) : onOneLine(text);
}

function textOf(text: "" | "postalAddress" | "projectName" | "year", context: MergeTagContext): string {
  switch (text) {
    case "":
      return "";
    case "postalAddress":
      return context.postalAddress ?? "";
    case "projectName":
      return context.projectName;
    case "year":
      return String(context.year);
  }
}

/** For a subject or a text part. */
function onOneLine(text: string): string {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join(", ");
}

const escaped = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("{{", String.raw`\{{`)
    .replace(/\r\n?|\n/g, "<br>");

const lettersOf = (name: string) => (name.match(WORDS) ?? []).join("").toLowerCase();

/** `LAST_ORDER` and `last_order` become `lastOrder`. A name that mixes cases keeps them. */
function camelCase(name: string): string {
  const words = name.match(WORDS) ?? [name];
  const isMixed = words.length === 1 && /\p{Ll}/u.test(name);
  if (isMixed) return name;
  const [first = "", ...rest] = words.map((word) => word.toLowerCase());
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

// Language tags (BCP 47), in the spellings that people and programs use. Pure.
import { z } from "zod";
import { issue, jsonSchemas } from "./field.ts";

/** Longer texts are not language tags. */
const MAX_TAG_LENGTH = 35;
/** Longer codes are reserved (RFC 5646 section 2.2.1), and are usually the name of a language. */
const MAX_LANGUAGE_LENGTH = 3;
const UNDETERMINED = "und";

/** Parses `de_DE.UTF-8@euro` as `de-DE`, with current codes in place of outdated and three-letter ones. Returns null for anything else. */
export function parseLocale(text: string): Intl.Locale | null {
  if (text.length > MAX_TAG_LENGTH) return null;
  const [tag = ""] = text.trim().replaceAll("_", "-").split(/[.@]/);
  try {
    return new Intl.Locale(tag);
  } catch {
    // The text is not a language tag.
    return null;
  }
}

/** Returns a tag in canonical form, such as `pt-BR` for `PT_br`, or null if the text names no language. */
export function localeTagOf(text: string): string | null {
  const tag = parseLocale(text)?.baseName ?? UNDETERMINED;
  const [language = ""] = tag.split("-");
  return language === UNDETERMINED || language.length > MAX_LANGUAGE_LENGTH ? null : tag;
}

/**
 * Returns the tag of a list that fits a wish best: the wish itself, or else its beginning without the last parts (RFC 4647 section 3.4).
 * @param tags in canonical form
 * @param wish any value. Returns null unless it is a language tag
 */
export function lookUpLocale(tags: readonly string[], wish: unknown): string | null {
  if (typeof wish !== "string" || tags.length === 0) return null;
  let tag = localeTagOf(wish) ?? "";
  while (tag !== "" && !tags.includes(tag)) tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")));
  return tag === "" ? null : tag;
}

/** A language tag, as its canonical form. */
export const localeTag = z
  .string()
  .transform((text, context) => {
    const tag = localeTagOf(text);
    if (tag !== null) return tag;
    context.issues.push(issue("Must be a language tag, such as `de` or `pt-BR`.", "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, {
    jsonSchema: { type: "string", maxLength: MAX_TAG_LENGTH, examples: ["pt-BR"] },
  });

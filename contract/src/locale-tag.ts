// Language tags (BCP 47), in the spellings that people and programs use. Pure.

/** Longer texts are not language tags. */
export const MAX_TAG_LENGTH = 35;
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
 * Returns the tag in a list that matches a requested language best: the same tag, or else without its last parts (RFC 4647 section 3.4).
 * @param tags in canonical form
 * @param wish the requested language, as any value. Returns null unless it is a language tag
 */
export function lookUpLocale(tags: readonly string[], wish: unknown): string | null {
  if (typeof wish !== "string" || tags.length === 0) return null;
  const parts = (localeTagOf(wish) ?? "").split("-");
  const beginnings = parts.map((_part, at) => parts.slice(0, parts.length - at).join("-"));
  return beginnings.find((tag) => tags.includes(tag)) ?? null;
}

// Chooses the language of platform email from a tag or a browser's preferences. Pure.
import type { PersonLanguage } from "@postloft/contract/users.ts";

export type MailLanguage = PersonLanguage;

const LANGUAGES: ReadonlySet<string> = new Set<MailLanguage>(["en", "de", "fr", "es"]);
/** Maximum number of `Accept-Language` entries to read. */
const MAX_ACCEPTED = 20;
/** Longer tags are cut off. */
const MAX_TAG_LENGTH = 35;

/** Returns the language of a tag such as `de-AT`, or null if it is not supported. */
function languageOf(tag: string): MailLanguage | null {
  const code = tag.slice(0, MAX_TAG_LENGTH).split(/[-_]/, 1)[0]?.toLowerCase() ?? "";
  return LANGUAGES.has(code) ? (code as MailLanguage) : null;
}

/** @param tag such as the language of a project. Unsupported ones give English */
export function mailLanguageOf(tag: string | null | undefined): MailLanguage {
  return (tag == null ? null : languageOf(tag)) ?? "en";
}

/** Returns the supported language that the browser prefers most (RFC 9110 §12.5.4), or English. */
export function acceptedLanguage(header: string | undefined): MailLanguage {
  const wishes = (header ?? "").split(",", MAX_ACCEPTED).flatMap((entry) => {
    const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    const language = languageOf(tag);
    return language === null || !(weight > 0) ? [] : [{ language, weight }];
  });
  return wishes.toSorted((one, other) => other.weight - one.weight)[0]?.language ?? "en";
}

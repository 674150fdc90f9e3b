// The languages of mail of the installation, and the one that fits what somebody wishes. Pure.
import type { PersonLanguage } from "@postloft/contract/users.ts";

export type MailLanguage = PersonLanguage;

const LANGUAGES: ReadonlySet<string> = new Set<MailLanguage>(["en", "de", "fr", "es"]);
/** As many entries of `Accept-Language` as are looked at. */
const MAX_ACCEPTED = 20;
/** A tag is short; anything longer is none. */
const MAX_TAG_LENGTH = 35;

/** The language of a tag such as `de-AT`; null: one that is not written. */
function languageOf(tag: string): MailLanguage | null {
  const code = tag.slice(0, MAX_TAG_LENGTH).split(/[-_]/, 1)[0]?.toLowerCase() ?? "";
  return LANGUAGES.has(code) ? (code as MailLanguage) : null;
}

/** @param tag such as the language of a project; English where it is none of ours */
export function mailLanguageOf(tag: string | null | undefined): MailLanguage {
  return (tag == null ? null : languageOf(tag)) ?? "en";
}

/** What a browser wishes most of what there is (RFC 9110 §12.5.4), else English. */
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

// Translates the dashboard's texts. The English text in the code is the key of the catalogues in this folder.
import type { ErrorMessage, Placeholder } from "@postloft/contract/translation.ts";

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español" } as const;
export type Language = keyof typeof LANGUAGES;
type Catalogue = Readonly<Record<string, string>>;

const CATALOGUES: Record<Exclude<Language, "en">, () => Promise<{ default: Catalogue }>> = {
  de: () => import("./de.json"),
  fr: () => import("./fr.json"),
  es: () => import("./es.json"),
};
const STORED_AS = "postloft.language";
/** Separates singular and plural in a catalogue. */
const BETWEEN_FORMS = "|";

type Value = string | number;
type Values<M extends string> = [Placeholder<M>] extends [never]
  ? []
  : [values: Record<Placeholder<M>, Value>];

function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text);
}

function preferred(): Language {
  const wanted = [localStorage.getItem(STORED_AS) ?? "", ...navigator.languages];
  return wanted.map((one) => one.split("-")[0] ?? "").find(isLanguage) ?? "en";
}

/** The displayed language: the chosen one, otherwise the browser's first supported one. */
export const LANGUAGE = preferred();
// Top-level await, so that modules importing this file can translate texts at load time.
const CATALOGUE: Catalogue = LANGUAGE === "en" ? {} : (await CATALOGUES[LANGUAGE]()).default;

/** Returns the locale for numbers and dates. Prefers the browser's regional variant, so that British users keep British dates. */
export function locale(): string {
  return LOCALE;
}
const LOCALE = navigator.languages.find((one) => one.startsWith(LANGUAGE) && isLocale(one)) ?? LANGUAGE;

/** Chromium under `LANG=C` reports `en-US@posix`, which its own `Intl` rejects. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** Stores the language on this device and reloads the page, because texts are translated once at load time. */
export function chooseLanguage(code: Language): void {
  localStorage.setItem(STORED_AS, code);
  location.reload();
}

/**
 * Translates a text. Call it with a literal so that the test finds every text.
 * @param message English text with `{names}` as placeholders; numbers are formatted for the user's locale
 */
export function t<const M extends string>(message: M, ...[values]: Values<M>): string {
  return fill(CATALOGUE[message] ?? message, values ?? {});
}

/** Translates a text in the singular or plural form. `{n}` is the count. */
export function plural<const One extends string, const Other extends string>(
  n: number,
  one: One,
  other: Other,
  values: Record<Exclude<Placeholder<One | Other>, "n">, Value> = {} as never,
): string {
  const forms = CATALOGUE[`${one}${BETWEEN_FORMS}${other}`]?.split(BETWEEN_FORMS) ?? [one, other];
  const isOne = new Intl.PluralRules(LANGUAGE).select(n) === "one";
  return fill((isOne ? forms[0] : forms[1]) ?? other, { ...values, n });
}

/** Translates a message from the server. Returns it in English if the catalogue of an older page lacks its text. */
export function translateMessage({ message, translation }: ErrorMessage): string {
  const { key, values } = translation ?? { key: message, values: {} };
  const known = Object.hasOwn(CATALOGUE, key) ? CATALOGUE[key] : undefined;
  return known === undefined ? message : fill(known, values);
}

function fill(text: string, values: Readonly<Record<string, Value>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? new Intl.NumberFormat(locale()).format(value) : value;
  });
}

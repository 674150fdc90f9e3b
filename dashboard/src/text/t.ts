// Every text of the dashboard in the viewer's language. English stands in the code and is the key of the catalogues beside this file.

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español" } as const;
export type Language = keyof typeof LANGUAGES;
type Catalogue = Readonly<Record<string, string>>;

const CATALOGUES: Record<Exclude<Language, "en">, () => Promise<{ default: Catalogue }>> = {
  de: () => import("./de.json"),
  fr: () => import("./fr.json"),
  es: () => import("./es.json"),
};
const STORED_AS = "postloft.language";
/** Between the singular and the plural in a catalogue. */
const BETWEEN_FORMS = "|";

type Placeholder<M extends string> = M extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
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

/** The language that is shown: the chosen one, else the first of the browser's that there is. */
export const LANGUAGE = preferred();
// Whoever imports this file waits for it, so texts may be made where a file is read.
const CATALOGUE: Catalogue = LANGUAGE === "en" ? {} : (await CATALOGUES[LANGUAGE]()).default;

/** How numbers and dates are written: as the browser says where it speaks the language, so that a Briton keeps British dates. */
export function locale(): string {
  return LOCALE;
}
const LOCALE = navigator.languages.find((one) => one.startsWith(LANGUAGE) && isLocale(one)) ?? LANGUAGE;

/** Chromium under `LANG=C` calls its language `en-US@posix`, which its own `Intl` refuses. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** From now on in this language, on this device. The page begins anew, since its texts are made once. */
export function chooseLanguage(code: Language): void {
  localStorage.setItem(STORED_AS, code);
  location.reload();
}

/**
 * A text in the viewer's language. The text is always written out where it is shown, so that a test finds it.
 *
 * @param message in English, with `{names}` of what is filled in; numbers are written as the viewer writes them
 */
export function t<const M extends string>(message: M, ...[values]: Values<M>): string {
  return fill(CATALOGUE[message] ?? message, values ?? {});
}

/** As `t`, in the singular or the plural; `{n}` is the count. */
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

/** What the server says in English, where the catalogues have that sentence, or one with `{1}` where it names something of the case. */
export function saidByServer(sentence: string): string {
  const known = CATALOGUE[sentence];
  if (known !== undefined) return known;
  for (const [english, said] of Object.entries(CATALOGUE)) {
    const values = english.includes("{1}") ? filledIn(english).exec(sentence) : null;
    if (values !== null) return fill(said, Object.fromEntries(values.entries()));
  }
  return sentence;
}

/** Finds what was filled in to such a sentence. */
function filledIn(english: string): RegExp {
  const parts = english
    .split(/\{\d\}/)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("(.+)")}$`, "s");
}

function fill(text: string, values: Readonly<Record<string, Value>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? new Intl.NumberFormat(locale()).format(value) : value;
  });
}

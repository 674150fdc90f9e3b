// Which language a contact is spoken to in, and its texts: pages and footers in 32 languages (spec §2.2 rule 8).
import { ar } from "./languages/ar.ts";
import { bg } from "./languages/bg.ts";
import { ca } from "./languages/ca.ts";
import { cs } from "./languages/cs.ts";
import { cy } from "./languages/cy.ts";
import { da } from "./languages/da.ts";
import { de } from "./languages/de.ts";
import { el } from "./languages/el.ts";
import { en, type PageTexts } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fi } from "./languages/fi.ts";
import { fr } from "./languages/fr.ts";
import { he } from "./languages/he.ts";
import { hi } from "./languages/hi.ts";
import { hu } from "./languages/hu.ts";
import { id } from "./languages/id.ts";
import { it } from "./languages/it.ts";
import { ja } from "./languages/ja.ts";
import { ko } from "./languages/ko.ts";
import { nb } from "./languages/nb.ts";
import { nl } from "./languages/nl.ts";
import { pl } from "./languages/pl.ts";
import { pt } from "./languages/pt.ts";
import { ro } from "./languages/ro.ts";
import { ru } from "./languages/ru.ts";
import { sv } from "./languages/sv.ts";
import { tr } from "./languages/tr.ts";
import { uk } from "./languages/uk.ts";
import { vi } from "./languages/vi.ts";
import { zhCN } from "./languages/zh-CN.ts";
import { zhHK } from "./languages/zh-HK.ts";
import { zhTW } from "./languages/zh-TW.ts";

/** Every language there is, by its code. */
export const LANGUAGES = {
  ar,
  bg,
  ca,
  cs,
  cy,
  da,
  de,
  el,
  en,
  es,
  fi,
  fr,
  he,
  hi,
  hu,
  id,
  it,
  ja,
  ko,
  nb,
  nl,
  pl,
  pt,
  ro,
  ru,
  sv,
  tr,
  uk,
  vi,
  "zh-CN": zhCN,
  "zh-HK": zhHK,
  "zh-TW": zhTW,
} satisfies Record<string, PageTexts>;

export type Locale = keyof typeof LANGUAGES;

const DEFAULT: Locale = "en";
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(["ar", "he"]);
/** A code is short; anything longer is none. */
const MAX_CODE_LENGTH = 35;
/** As many entries of `Accept-Language` as are looked at. */
const MAX_ACCEPTED = 20;

/**
 * The language of the first wish we speak: a contact's `data.locale`, then the project's language; English when there is none.
 * Takes what people write: `de`, `de-AT`, `pt_BR`, `deu`, `zh_HK.UTF-8`; anything else is passed over.
 */
export function chooseLocale(...wishes: readonly unknown[]): Locale {
  for (const wish of wishes) {
    const locale = findLocale(wish);
    if (locale !== null) return locale;
  }
  return DEFAULT;
}

/** The language of a browser that says what it accepts, for pages on which nobody is known. */
export function chooseAccepted(header: string | undefined): Locale {
  const accepted = (header ?? "")
    .split(",", MAX_ACCEPTED)
    .map((entry) => {
      const [code = "", ...parameters] = entry.split(";").map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith("q="));
      return { code, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ quality }) => quality > 0);
  return chooseLocale(
    ...accepted.toSorted((one, other) => other.quality - one.quality).map(({ code }) => code),
  );
}

export function textsOf(locale: Locale): PageTexts {
  return LANGUAGES[locale];
}

export function directionOf(locale: Locale): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(locale) ? "rtl" : "ltr";
}

function findLocale(wish: unknown): Locale | null {
  if (typeof wish !== "string" || wish.length > MAX_CODE_LENGTH) return null;
  // Every marketing mail asks, nearly always with the code itself; to read a tag takes a hundred times as long.
  if (isLocale(wish)) return wish;
  const tag = readTag(wish);
  if (tag === null) return null;
  if (tag.language === "zh" || tag.language === "yue") return chineseOf(tag);
  const code = tag.language === "no" || tag.language === "nn" ? "nb" : tag.language;
  return isLocale(code) ? code : null;
}

/** `de_DE.UTF-8@euro` → `de-DE`; codes of three letters and outdated ones become those in use. */
function readTag(text: string): Intl.Locale | null {
  const [tag = ""] = text.trim().replaceAll("_", "-").split(/[.@]/);
  try {
    return new Intl.Locale(tag);
  } catch {
    // No language code at all: a wish that says nothing.
    return null;
  }
}

/** Chinese by its script, and what is written traditionally by its place. */
function chineseOf(tag: Intl.Locale): Locale | null {
  const { script, region } = tag.maximize();
  const code = script !== "Hant" ? "zh-CN" : region === "HK" || region === "MO" ? "zh-HK" : "zh-TW";
  return isLocale(code) ? code : null;
}

function isLocale(code: string): code is Locale {
  return Object.hasOwn(LANGUAGES, code);
}

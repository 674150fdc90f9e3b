// Chooses a contact's language and returns the texts of pages and footers in 32 languages (spec §2.2 rule 8).
import { parseLocale } from "@postloft/contract/locale-tag.ts";
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

/** All languages by their code. */
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
/** Maximum number of entries read from `Accept-Language`. */
const MAX_ACCEPTED = 20;

/**
 * Returns the first supported language of a contact's `data.locale` and the project's language, or English. Accepts common spellings such
 * as `de`, `de-AT`, `pt_BR`, `deu` and `zh_HK.UTF-8`, and skips anything else.
 */
export function chooseLocale(...wishes: readonly unknown[]): Locale {
  for (const wish of wishes) {
    const locale = findLocale(wish);
    if (locale !== null) return locale;
  }
  return DEFAULT;
}

/** Returns the language of an `Accept-Language` header, for pages without a known contact. */
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
  if (typeof wish !== "string") return null;
  // Every marketing email asks, nearly always with the code itself, and parsing a tag takes a hundred times as long.
  if (isLocale(wish)) return wish;
  const tag = parseLocale(wish);
  if (tag === null) return null;
  if (tag.language === "zh" || tag.language === "yue") return chineseOf(tag);
  const code = tag.language === "no" || tag.language === "nn" ? "nb" : tag.language;
  return isLocale(code) ? code : null;
}

/** Returns the Chinese variant by script, and for traditional script by region. */
function chineseOf(tag: Intl.Locale): Locale | null {
  const { script, region } = tag.maximize();
  const code = script !== "Hant" ? "zh-CN" : region === "HK" || region === "MO" ? "zh-HK" : "zh-TW";
  return isLocale(code) ? code : null;
}

function isLocale(code: string): code is Locale {
  return Object.hasOwn(LANGUAGES, code);
}

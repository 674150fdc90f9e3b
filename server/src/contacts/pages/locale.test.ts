// Languages of pages and footers: complete texts, matching placeholders, and the choice of a language.
import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { en } from "./languages/en.ts";
import { LANGUAGES, chooseAccepted, chooseLocale, directionOf, type Locale } from "./locale.ts";

const others = (Object.keys(LANGUAGES) as Locale[]).filter((code) => code !== "en");
const placeholdersOf = (text: string) => (text.match(/\{[^}]*\}/g) ?? []).toSorted();

test("every language file is in use, and there are 32 languages", async () => {
  const files = await readdir(new URL("languages/", import.meta.url));
  expect(files.map((file) => file.replace(".ts", "")).toSorted()).toEqual(Object.keys(LANGUAGES).toSorted());
  expect(files).toHaveLength(32);
});

test.for(others)("%s has every text with the English placeholders, and no English text", (code) => {
  const texts = LANGUAGES[code];
  expect(Object.keys(texts).toSorted()).toEqual(Object.keys(en).toSorted());
  for (const [key, english] of Object.entries(en)) {
    const text = texts[key as keyof typeof en];
    expect({ key, placeholders: placeholdersOf(text) }).toEqual({
      key,
      placeholders: placeholdersOf(english),
    });
    expect({ key, text: text.trim() }).toEqual({ key, text: expect.stringMatching(/^\S.*\S$/u) });
    expect({ key, text }).not.toEqual({ key, text: english });
    expect(text).not.toMatch(
      /\b(unsubscribe|subscription|subscribed|newsletters? from|please|e-mail again)\b/i,
    );
  }
});

test("no two languages are equal, and each question differs from its confirmation", () => {
  const all = Object.values(LANGUAGES).map((texts) => Object.values(texts).join("\n"));
  expect(new Set(all).size).toBe(all.length);
  for (const texts of Object.values(LANGUAGES))
    for (const [one, other] of [
      ["unsubscribeTitle", "subscribeTitle"],
      ["unsubscribeText", "subscribeText"],
      ["unsubscribedTitle", "subscribedTitle"],
      ["unsubscribedText", "subscribedText"],
      ["unsubscribeButton", "subscribeButton"],
      ["unsubscribeTitle", "unsubscribedTitle"],
    ] as const)
      expect(texts[one]).not.toBe(texts[other]);
});

const WRITING: Partial<Record<Locale, RegExp>> = {
  ar: /\p{Script=Arabic}/u,
  he: /\p{Script=Hebrew}/u,
  hi: /\p{Script=Devanagari}/u,
  bg: /\p{Script=Cyrillic}/u,
  ru: /\p{Script=Cyrillic}/u,
  uk: /\p{Script=Cyrillic}/u,
  el: /\p{Script=Greek}/u,
  ja: /\p{Script=Hiragana}/u,
  ko: /\p{Script=Hangul}/u,
  "zh-CN": /\p{Script=Han}/u,
  "zh-HK": /\p{Script=Han}/u,
  "zh-TW": /\p{Script=Han}/u,
};

test.for(others)("%s uses only its own script", (code) => {
  const expected = WRITING[code] ?? /\p{Script=Latin}/u;
  const foreign = Object.values(WRITING).filter((script) => String(script) !== String(expected));
  for (const text of Object.values(LANGUAGES[code])) {
    const words = text.replaceAll(/\{[a-z]+\}/g, "");
    expect(words).toMatch(expected);
    for (const script of code === "ja" ? [] : foreign) expect(words).not.toMatch(script);
  }
});

test("only Arabic and Hebrew run from right to left", () => {
  const rightToLeft = (Object.keys(LANGUAGES) as Locale[]).filter((code) => directionOf(code) === "rtl");
  expect(rightToLeft).toEqual(["ar", "he"]);
});

const CHOICES: Array<[unknown[], Locale]> = [
  [["de"], "de"],
  [["de-AT"], "de"],
  [["DE_at"], "de"],
  [[" de_DE.UTF-8 "], "de"],
  [["deu"], "de"],
  [["ger"], "de"],
  [["pt_BR"], "pt"],
  [["no"], "nb"],
  [["nn-NO"], "nb"],
  [["iw"], "he"],
  [["in"], "id"],
  [["zh"], "zh-CN"],
  [["zh-Hant"], "zh-TW"],
  [["zh_HK"], "zh-HK"],
  [["zh-MO"], "zh-HK"],
  [["zh-SG"], "zh-CN"],
  [["zh-Hans-HK"], "zh-CN"],
  [["xx", "sv"], "sv"],
  [[null, "fr"], "fr"],
  [["", "fr"], "fr"],
  [[7, "fr"], "fr"],
  [[{ de: 1 }, "fr"], "fr"],
  [["fr", "de"], "fr"],
  [["x".repeat(5_000), "it"], "it"],
  [["constructor", "__proto__", "toString", "nl"], "nl"],
  [["klingon"], "en"],
  [[undefined, undefined], "en"],
  [[], "en"],
];

test.for(CHOICES)("chooses for the preferences %j the language %s", ([wishes, expected]) => {
  expect(chooseLocale(...wishes)).toBe(expected);
});

test.for([
  ["de-AT,de;q=0.9,en;q=0.8", "de"],
  ["en;q=0.5, fr;q=0.9", "fr"],
  ["tlh, xx;q=0.9, ja;q=0.1", "ja"],
  ["xx, de;q=0", "en"],
  ["zh-TW", "zh-TW"],
  ["*", "en"],
  [undefined, "en"],
  [",;q=x,,;;=", "en"],
  [`${"xx,".repeat(5_000)}de`, "en"],
] as const)("a browser that accepts %s gets %s", ([header, expected]) => {
  expect(chooseAccepted(header)).toBe(expected);
});

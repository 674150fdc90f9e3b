// Tests how language tags are read and looked up.
import { expect, test } from "vitest";
import { localeTagOf, lookUpLocale } from "./locale-tag.ts";

test.each([
  ["de", "de"],
  ["DE", "de"],
  ["pt_BR", "pt-BR"],
  ["PT-br", "pt-BR"],
  ["de_DE.UTF-8@euro", "de-DE"],
  ["zh_hant_tw", "zh-Hant-TW"],
  ["deu", "de"],
  ["iw", "he"],
  [" fr ", "fr"],
  ["de-DE-u-co-phonebk", "de-DE"],
  ["sl-rozaj", "sl-rozaj"],
])("reads the tag %j as %s", (text, tag) => {
  expect(localeTagOf(text)).toBe(tag);
});

test.each([
  "",
  "-",
  "german",
  "English",
  "d",
  "de-",
  "de--DE",
  "und",
  "5",
  "de, en",
  "../de",
  "de".repeat(40),
])("reads no language from %j", (text) => {
  expect(localeTagOf(text)).toBe(null);
});

test.each([
  ["de-AT", "de-AT"],
  ["de_at", "de-AT"],
  ["de-CH", "de"],
  ["DE", "de"],
  ["deu-CH", "de"],
  ["zh-Hant-HK", "zh-Hant"],
  ["zh-TW", null],
  ["pt", null],
  ["fr", null],
  ["english", null],
  ["", null],
  [null, null],
  [undefined, null],
  [7, null],
  [{ toString: () => "de" }, null],
])("finds the closest tag for %j", (wish, tag) => {
  expect(lookUpLocale(["de", "de-AT", "pt-BR", "zh-Hant"], wish)).toBe(tag);
});

test("finds nothing without tags", () => {
  expect(lookUpLocale([], "de")).toBe(null);
});

// Every text of the dashboard goes through `t` or `plural`, and is there in every language.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "@postloft/contract/errors.ts";
import { readTexts } from "../../../tools/dashboard-texts/texts.ts";

const { messages, bare } = readTexts();
/** What refusals say, and what to do about them, which is often for programs alone. */
const refusals = Object.values(ERRORS).map(({ message }) => message);
const advice = Object.values(ERRORS).map(({ suggestion }) => suggestion);
const read = (code: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${code}.json`), "utf8")) as Record<string, string>;
const CATALOGUES = { german: read("de"), spanish: read("es"), french: read("fr") };

test("no text is shown as it is written: each is given to t or plural", () => {
  expect(bare).toEqual([]);
  expect(messages.length).toBeGreaterThan(100);
});

const formsOf = (text: string) => text.split("|");
const namesOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].toSorted();

test.each(Object.entries(CATALOGUES))(
  "%s has exactly the texts of the code, and what refusals say",
  (_language, catalogue) => {
    const missing = [...messages, ...refusals].filter((text) => !Object.hasOwn(catalogue, text));
    const known = new Set([...messages, ...refusals, ...advice]);
    const leftOver = Object.keys(catalogue).filter((text) => !known.has(text));
    expect({ missing, leftOver }).toEqual({ missing: [], leftOver: [] });
  },
);

test.each(Object.entries(CATALOGUES))("%s fills in the same, in as many forms", (_language, catalogue) => {
  const faulty = Object.entries(catalogue).filter(
    ([text, translated]) =>
      formsOf(text).length !== formsOf(translated).length ||
      formsOf(text).some(
        (form, at) =>
          namesOf(form).join() !== namesOf(formsOf(translated)[at] ?? "").join() && !text.includes("|"),
      ) ||
      namesOf(translated).some((name) => !namesOf(text).includes(name)) ||
      translated.trim() === "",
  );
  expect(faulty).toEqual([]);
});

// Every text of the dashboard goes through `t` or `plural`, and is there in every language.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "@postloft/contract/errors.ts";
import { readCaseSentences } from "../../../tools/dashboard-texts/refusals.ts";
import { readTexts } from "../../../tools/dashboard-texts/texts.ts";

const { messages, bare } = readTexts();
/** What refusals say, and what to do about them, which is often for programs alone. */
const refusals = Object.values(ERRORS).map(({ message }) => message);
/** Said of one case to programs alone, or around words that are English themselves. */
const FOR_PROGRAMS =
  /^(?:platform|v1|deliveries|contacts\/list-cursor|emails\/refusals|reports\/live-activity)/;
const AROUND_WORDS = [
  "The cap on {1} of this month leaves room for {2}, and this would be {3}.",
  "The campaign is {1}; this can be done while it is {2}.",
  "{1} belongs to the installation and {2}.",
  "It is used by {1}: change that first.",
  "{1} under way: cancel them first, or wait until they have ended.",
];
const NO_SCREEN = [
  "This event was not accepted.",
  "The mail belongs to a campaign: send it again by POST /campaigns/{1}/resolve with its id in ids.",
  "Only a dynamic segment with trackMembership has members to compute; use refresh to count.",
  "The template was changed at {1}, after you had read it.",
];
const cases = readCaseSentences();
const casesForPeople = cases
  .filter(({ file }) => !FOR_PROGRAMS.test(file))
  .map(({ sentence }) => sentence)
  .filter((sentence) => ![...AROUND_WORDS, ...NO_SCREEN].includes(sentence));
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
    const missing = [...messages, ...refusals, ...casesForPeople].filter(
      (text) => !Object.hasOwn(catalogue, text),
    );
    const known = new Set([...messages, ...refusals, ...casesForPeople, ...advice]);
    const leftOver = Object.keys(catalogue).filter((text) => !known.has(text));
    expect({ missing, leftOver }).toEqual({ missing: [], leftOver: [] });
  },
);

test("what is said of a case and needs no translation is still said", () => {
  const said = new Set(cases.map(({ sentence }) => sentence));
  expect([...AROUND_WORDS, ...NO_SCREEN].filter((sentence) => !said.has(sentence))).toEqual([]);
  expect(casesForPeople.length).toBeGreaterThan(50);
});

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

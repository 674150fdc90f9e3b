// Checks that every text of the dashboard goes through `t` or `plural` and exists in every language.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { ERRORS } from "@postloft/contract/errors.ts";
import { readCaseSentences } from "../../../tools/dashboard-texts/errors.ts";
import { readTexts } from "../../../tools/dashboard-texts/texts.ts";

const { messages, bare } = readTexts();
/** Messages and suggestions of the error catalog. Most suggestions are for API clients only. */
const errors = Object.values(ERRORS).map(({ message }) => message);
/** Errors that only API clients see, or that contain English words anyway. */
const FOR_PROGRAMS =
  /^(?:platform|v1|deliveries|contacts\/list-cursor|emails\/throttling|reports\/live-activity)/;
const AROUND_WORDS = [
  "The monthly cap on {1} leaves room for {2}, but this would be {3}.",
  "The campaign is {1}. This is only possible while it is {2}.",
  "{1} belongs to the installation and {2}.",
  "This event is used by {1}. Change that first.",
  "{1} active. Cancel them first, or wait until they have ended.",
];
const NO_SCREEN = [
  "This event was not accepted.",
  "The email belongs to a campaign. Send it again with POST /campaigns/{1}/resolve and its id in ids.",
  "Only a dynamic segment with trackMembership can update its members. Use refresh to count.",
  "This was changed at {1}, after you read it.",
];
/** The most frequent field errors, from our code and from Zod. */
const FAULTS_OF_FIELDS = [
  "Required.",
  "Must be in the future.",
  "Must be the exact name of the project.",
  "Must not be your email address, Postloft or the name of a project, even with a few characters added.",
  "Is one of the 100,000 most common passwords. Choose another one.",
  "Must be the email address of your account.",
  "Must not contain line breaks or control characters.",
  "Must not contain control characters.",
  "Must not be empty.",
  "The segment can't refer to itself.",
  "The campaign's segment was deleted. Choose another one.",
  "The audience is empty.",
  "There is no such day.",
  "The period ends before it begins.",
  "Must be an https address without a user name, a password or a port.",
  "Must be an IP address, or a network such as 192.0.2.0/24.",
  "Must be a time zone of the IANA database, for example `Europe/Berlin`.",
  "Only a SEND_EMAIL step has a template. Remove this field.",
  "Another step already has this key.",
];
const word = z.string().min(2).max(3);
const amount = z.number().min(2).max(3);
const faultsByZod = [word.safeParse(""), word.safeParse("long"), amount.safeParse(1), amount.safeParse(4)]
  .flatMap(({ error }) => error?.issues ?? [])
  .map(({ message }) => message.replace(/\d/, "{1}"));
const faultsOfFields = [...FAULTS_OF_FIELDS, ...faultsByZod];
const cases = readCaseSentences();
const casesForPeople = cases
  .filter(({ file }) => !FOR_PROGRAMS.test(file))
  .map(({ sentence }) => sentence)
  .filter((sentence) => ![...AROUND_WORDS, ...NO_SCREEN].includes(sentence));
const advice = Object.values(ERRORS).map(({ suggestion }) => suggestion);
const read = (code: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${code}.json`), "utf8")) as Record<string, string>;
const CATALOGUES = { german: read("de"), spanish: read("es"), french: read("fr") };

test("passes every displayed text to t or plural", () => {
  expect(bare).toEqual([]);
  expect(messages.length).toBeGreaterThan(100);
});

const formsOf = (text: string) => text.split("|");
const namesOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].toSorted();

test.each(Object.entries(CATALOGUES))(
  "%s has exactly the texts of the code and the error messages",
  (_language, catalogue) => {
    const missing = [...messages, ...errors, ...casesForPeople, ...faultsOfFields].filter(
      (text) => !Object.hasOwn(catalogue, text),
    );
    const known = new Set([...messages, ...errors, ...casesForPeople, ...faultsOfFields, ...advice]);
    const leftOver = Object.keys(catalogue).filter((text) => !known.has(text));
    expect({ missing, leftOver }).toEqual({ missing: [], leftOver: [] });
  },
);

test("every listed field error still occurs in the server or the contract", () => {
  const sources = ["contract/src", "server/src"].flatMap((folder) => {
    const root = join(import.meta.dirname, "../../..", folder);
    const files = readdirSync(root, { recursive: true, encoding: "utf8" });
    return files.filter((name) => name.endsWith(".ts")).map((name) => readFileSync(join(root, name), "utf8"));
  });
  const gone = FAULTS_OF_FIELDS.filter((fault) => !sources.some((source) => source.includes(`"${fault}"`)));
  expect(gone).toEqual([]);
  expect(faultsByZod).toHaveLength(4);
});

test("every error listed as untranslated still exists", () => {
  const said = new Set(cases.map(({ sentence }) => sentence));
  expect([...AROUND_WORDS, ...NO_SCREEN].filter((sentence) => !said.has(sentence))).toEqual([]);
  expect(casesForPeople.length).toBeGreaterThan(50);
});

test.each(Object.entries(CATALOGUES))(
  "%s has the same placeholders and plural forms as the English texts",
  (_language, catalogue) => {
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
  },
);

// Checks that every text of the dashboard goes through `t` or `plural` and exists in every language.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { ADDRESS_FAULTS } from "@postloft/contract/address-faults.ts";
import { ERRORS } from "@postloft/contract/errors.ts";
import { RECORDED_REASONS } from "@postloft/contract/recorded-reasons.ts";
import { fieldErrors } from "../../../server/src/platform/http/errors.ts";
import { readErrorTexts } from "../../../tools/dashboard-texts/errors.ts";
import { readTexts } from "../../../tools/dashboard-texts/texts.ts";

const { messages, bare } = readTexts();
/** Messages and suggestions of the error catalog. Most suggestions are for API clients only. */
const errors = Object.values(ERRORS).map(({ message }) => message);
const reasons = Object.values(RECORDED_REASONS);
/** Errors that only API clients see. */
const FOR_PROGRAMS = [
  "server/platform/",
  "server/v1/",
  "server/deliveries/",
  "server/contacts/list-cursor",
  "server/contacts/import/read-upload",
  "server/contacts/import/unzip",
  "server/emails/throttling/",
  "server/reports/live-activity",
  "server/segments/segment-contacts",
  "server/workflows/exchange",
  "server/workflows/graph-rules",
  "server/workflows/read-problems",
  "server/workflows/rename-branches",
  "server/workflows/schedule",
  "server/workflows/trigger",
  "contract/activity",
  "contract/analytics",
  "contract/attachments",
  "contract/contact-bulk",
  "contract/custom-headers",
  "contract/executions",
  "contract/filters",
  "contract/passkeys",
  "contract/report-queries",
  "contract/requests",
  "contract/unknown-fields",
  "contract/v1",
  "contract/workflows/",
];
/** Errors whose values are English words or sentences. */
const AROUND_WORDS = [
  "The monthly cap on {category} leaves room for {room}, but this would be {asked}.",
  "The campaign is {status}. This is only possible while it is {allowed}.",
  "{domain} belongs to the installation and {so}.",
  "Line {line}, column {column}: {problem}",
  "Column {position} cannot be a key of data: {why}",
  "The first row cannot be read: {why}{place}",
  "Row {row} of {file} cannot be read: {why} Upload each file separately.",
  "{file} has no table: {why}",
  "The passkey is not valid: {why}",
  'The segment "{name}" uses this one and would be too large. {why}',
  "The image is used by: {users}. Remove it there first.",
  "The image is used by: {users}. Remove it there first. Earlier versions are deleted when newer ones replace them, or with their template.",
  "{character} is not allowed in the name.",
  "{character} is allowed in the name only when the whole name is in quotes.",
  '{character} is not allowed before the "@".',
  "{character} is not allowed in the domain.",
];
/** Errors that no screen of the dashboard can cause. */
const NO_SCREEN = [
  "This event was not accepted.",
  "The email belongs to a campaign. Send it again with POST /campaigns/{campaignId}/resolve and its id in ids.",
  "Only a dynamic segment with trackMembership can update its members. Use refresh to count.",
  "This was changed at {updatedAt}, after you read it.",
  "There is no stored value for this header at this address: give one.",
  "Template {id} not found.",
  "Only allowed with the trigger EVENT.",
  "Choose an audience: {choices}",
  "Choose only one audience: {choices}",
  'Required for a dynamic segment. For a static one, set `type` to "STATIC".',
  // The headers of a webhook belong to a step of a workflow.
  "A header name may contain letters, digits and hyphens only.",
  "The name may have at most {most} characters.",
  "{name} is set by the service and cannot be changed.",
  "{name} appears twice.",
  "Must have at most {most} headers.",
  "Must not contain line breaks, control characters or characters beyond ISO 8859-1.",
  // The form of a request.
  "Must be a string.",
  "Must be valid JSON.",
  "Must be an email address, or an object { name, email }.",
  "Send the file as a part with this name.",
  "Must be a list.",
  "Must be a text.",
  "Must be one of {units}.",
  "Required: {units}.",
  "{field} takes {operators}.",
  "Must be AND or OR.",
  "Required: AND or OR.",
  "Must be an object { operator, conditions }.",
  "Must be an object { filters, conditions? }.",
  "Must be a condition { field, operator, value } or a group { operator, conditions }.",
  "Must contain at least one filter.",
  "The file has no column {column}. Its columns are {columns}.",
  "{count} columns are named {column}: {positions}. Use the position instead.",
  "The mapping contains the column {column} twice.",
  "Only the target field can have a field, but this target is {target}.",
  "Only the target status can have values, but this target is {target}.",
  "Only the target field can have type and dateFormat, but this target is {target}.",
  "Only the type date can have a dateFormat, but this type is {type}.",
];
const word = z.string().min(2).max(3);
const amount = z.number().min(2).max(3);
const list = z.array(z.null()).min(1).max(0);
const textsOfZod = [
  word.safeParse(""),
  word.safeParse("long"),
  amount.safeParse(1),
  amount.safeParse(4),
  list.safeParse([]),
  list.safeParse([null]),
].flatMap(({ error }) => fieldErrors(error?.issues ?? [], {}, "body"));
const errorTexts = [
  ...readErrorTexts(),
  ...Object.values(ADDRESS_FAULTS).map((text) => ({ file: "contract/address-faults.ts", text })),
  ...textsOfZod.map(({ translation }) => ({ file: "zod", text: translation?.key ?? "" })),
];
const known = new Set(errorTexts.map(({ text }) => text));
const forPeople = errorTexts
  .filter(({ file }) => !FOR_PROGRAMS.some((start) => file.startsWith(start)))
  .map(({ text }) => text)
  .filter((text) => ![...AROUND_WORDS, ...NO_SCREEN].includes(text));
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
    const missing = [...messages, ...errors, ...reasons, ...forPeople].filter(
      (text) => !Object.hasOwn(catalogue, text),
    );
    const used = new Set<string>([...messages, ...errors, ...reasons, ...known, ...advice]);
    const leftOver = Object.keys(catalogue).filter((text) => !used.has(text));
    expect({ missing, leftOver }).toEqual({ missing: [], leftOver: [] });
  },
);

test("every error listed as untranslated still exists", () => {
  expect([...AROUND_WORDS, ...NO_SCREEN].filter((text) => !known.has(text))).toEqual([]);
  expect(forPeople.length).toBeGreaterThan(150);
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

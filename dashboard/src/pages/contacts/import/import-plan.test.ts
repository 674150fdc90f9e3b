// Tests the wizard's plan: changes of a column, questions, and the status of each word.
import { expect, test } from "vitest";
import { findTable } from "@postloft/contract/contact-file/find-table.ts";
import { countPeople } from "./count-people.ts";
import {
  changeColumn,
  keepTexts,
  mappingOf,
  NO_OPTIONS,
  type KnownFields,
  type PlannedTable,
} from "./import-plan.ts";
import { openQuestions } from "./open-questions.ts";
import { planColumns } from "./plan-table.ts";
import { statusWords } from "./status-words.ts";
import { DISTINCT_VALUES_MAX, surveyTable } from "./survey-table.ts";

async function plan(
  text: string,
  name = "people.csv",
  known: KnownFields = new Map(),
): Promise<PlannedTable> {
  const { table } = findTable(text);
  if (table === undefined) throw new Error("no table");
  const { survey, sampleRows } = await surveyTable(text, table);
  if (survey === undefined) throw new Error("an open quote");
  return {
    name,
    text,
    files: null,
    isGuessed: false,
    table,
    survey,
    columns: planColumns(table, survey, sampleRows, known),
  };
}

const count = async (planned: PlannedTable) => countPeople(planned, NO_OPTIONS, new AbortController().signal);
const targets = ({ columns }: PlannedTable) => columns.map(({ target }) => target);

test("asks about an unknown status word and rejects it until it is decided", async () => {
  const table = await plan(
    "email,Status\na@example.com,active\nb@example.com,Purple\nc@example.com,purple\n",
  );
  expect(openQuestions(table)).toEqual([{ kind: "undecidedWord", column: "Status", word: "Purple" }]);
  expect((await count(table)).failed).toBe(2);
  const decided = changeColumn(table, 1, { values: { purple: "skip" } });
  expect(openQuestions(decided)).toEqual([]);
  expect(await count(decided)).toMatchObject({ failed: 0, byStatus: { subscribed: 1, skip: 2 } });
});

test("an unused status column blocks the import until the user confirms it", async () => {
  const table = await plan("email,Unsubscribed\na@example.com,true\nb@example.com,false\n");
  const unused = changeColumn(table, 1, { target: "ignore" });
  expect(openQuestions(unused)).toEqual([{ kind: "unusedStatus", column: "Unsubscribed" }]);
  expect(openQuestions(changeColumn(unused, 1, { isNoStatus: true }))).toEqual([]);
  expect(openQuestions(changeColumn(unused, 1, { target: "status" }))).toEqual([]);
});

test("digits stay text in a text field, also if the column is mapped to it later", async () => {
  const { columns } = await plan("email,Mobile\na@example.com,0123\n");
  const mobile = columns[1]!;
  const texts: KnownFields = new Map([["phone", "string"]]);
  expect(keepTexts({ field: "phone" }, mobile, texts)).toEqual({ field: "phone", type: "text" });
  expect(keepTexts({ field: "mobile" }, mobile, texts)).toEqual({ field: "mobile" });
  expect(keepTexts({ target: "field" }, { ...mobile, field: "phone", target: "ignore" }, texts)).toEqual({
    target: "field",
    type: "text",
  });
  expect(keepTexts({ type: "auto" }, { ...mobile, field: "phone", type: "text" }, texts)).toEqual({
    type: "auto",
  });
});

test("a new email column replaces the previous one, and a file without one can't be imported", async () => {
  const table = await plan("email,Work\na@example.com,w@example.com\n");
  expect(targets(changeColumn(table, 1, { target: "email" }))).toEqual(["ignore", "email"]);
  expect(openQuestions(changeColumn(table, 0, { target: "ignore" }))).toEqual([{ kind: "noEmail" }]);
});

test("one choice of a date order decides the other ambiguous columns, which can still be changed", async () => {
  const table = await plan("email,Joined,Birthday,Since\na@example.com,03/02/2024,01/02/1990,13/02/2024\n");
  expect(openQuestions(table).map(({ kind }) => kind)).toEqual(["dateOrder", "dateOrder"]);
  const chosen = changeColumn(table, 1, { dateFormat: "DMY" });
  expect(chosen.columns.map(({ dateFormat }) => dateFormat)).toEqual([null, "DMY", "DMY", "DMY"]);
  const other = changeColumn(chosen, 2, { dateFormat: "MDY" });
  expect(other.columns.map(({ dateFormat }) => dateFormat)).toEqual([null, "DMY", "MDY", "DMY"]);
  expect(openQuestions(changeColumn(table, 1, { type: "text" })).map(({ kind }) => kind)).toEqual([
    "dateOrder",
  ]);
});

test("the mapping names every column by position, with only what its target accepts", async () => {
  const text =
    "email,First Name,Status,Since\na@example.com,Ada,active,2/13/2024\nb@example.com,Bo,unsubscribed,\n";
  expect(mappingOf(await plan(text))).toEqual([
    { column: 1, target: "email" },
    { column: 2, target: "field", field: "firstName", type: "auto" },
    { column: 3, target: "status", values: { active: "subscribed", unsubscribed: "unsubscribed" } },
    { column: 4, target: "field", field: "since", type: "date", dateFormat: "MDY" },
  ]);
});

test("asks about a field without a name or with a name reserved by the service", async () => {
  const table = await plan("email,Plan\na@example.com,pro\n");
  const questionsOf = (field: string) => openQuestions(changeColumn(table, 1, { field }));
  expect(questionsOf(" ")).toEqual([{ kind: "noField", column: "Plan" }]);
  expect(questionsOf("unsubscribeUrl")).toEqual([{ kind: "ownField", field: "unsubscribeUrl" }]);
});

test("keeps the name of an existing field", async () => {
  const table = await plan(
    "email,First Name\na@example.com,Ada\n",
    "people.csv",
    new Map([["First Name", "string"]]),
  );
  expect(table.columns[1]?.field).toBe("First Name");
});

test("keeps digits as text in a text field, and as numbers in any other field", async () => {
  const text = "email,phone,seats,floor\na@example.com,491701234567,3,2\n";
  const known: KnownFields = new Map([
    ["phone", "string"],
    ["seats", "number"],
  ]);
  const { columns } = await plan(text, "people.csv", known);
  expect(columns.map(({ type }) => type)).toEqual(["auto", "text", "auto", "auto"]);
});

test("asks for the name of a new segment", async () => {
  const table = await plan("email\na@example.com\n");
  expect(openQuestions(table, { segment: { name: " " } })).toEqual([{ kind: "noSegmentName" }]);
  expect(openQuestions(table, { segment: { name: "People" } })).toEqual([]);
});

test("counts statuses case-insensitively, lists times as one line and empty cells last", async () => {
  const rows = Array.from(
    { length: DISTINCT_VALUES_MAX + 5 },
    (_, at) => `p${at}@example.com,2024-01-01 00:00:${at},`,
  );
  const text = ["email,UNSUB_TIME,Status", ...rows, "x@example.com,,Active", "y@example.com,,ACTIVE"].join(
    "\n",
  );
  const { columns, survey } = await plan(text);
  const words = (at: number) => {
    const [column, noted] = [columns[at], survey.columns[at]];
    return column === undefined || noted === undefined ? [] : statusWords(column.name, column.values, noted);
  };
  expect(words(1)).toEqual([
    { key: "*", text: "", rows: DISTINCT_VALUES_MAX + 5 },
    { key: "", text: "", rows: 2 },
  ]);
  expect(words(2)).toEqual([
    { key: "active", text: "Active", rows: 2 },
    { key: "", text: "", rows: DISTINCT_VALUES_MAX + 5 },
  ]);
});

test("counts rows with contradicting status columns, and the stricter one wins", async () => {
  const table = await plan("email,subscribed,bounced\na@example.com,yes,yes\nb@example.com,yes,no\n");
  expect(await count(table)).toMatchObject({
    contradictions: 1,
    byStatus: { subscribed: 1, suppressed: 1 },
  });
});

test("counting stops when the plan changes", async () => {
  const changed = new AbortController();
  changed.abort();
  const table = await plan("email\na@example.com\n");
  await expect(countPeople(table, NO_OPTIONS, changed.signal)).rejects.toThrow("aborted");
});

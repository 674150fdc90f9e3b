// Tests exports of other services in the wizard: who is subscribed, and what the wizard asks first.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeText } from "@postloft/contract/contact-file/decode-text.ts";
import { EXPECTED_EXPORTS } from "@postloft/contract/contact-file/exports/expected.ts";
import { findTable } from "@postloft/contract/contact-file/find-table.ts";
import { proposeMapping } from "@postloft/contract/contact-file/propose-mapping.ts";
import { createPersonReader } from "@postloft/contract/contact-file/read-person.ts";
import { resolveMapping } from "@postloft/contract/contact-file/resolve-mapping.ts";
import { createCsvReader, isEmptyRow } from "@postloft/contract/read-csv.ts";
import { countPeople } from "./count-people.ts";
import { changeColumn, mappingOf, NO_OPTIONS, type PlannedTable } from "./import-plan.ts";
import { openQuestions } from "./open-questions.ts";
import { planColumns } from "./plan-table.ts";
import { surveyTable } from "./survey-table.ts";

const FOLDER = new URL("../../../../../contract/src/contact-file/exports/", import.meta.url);

/** The wizard's questions for each file. */
const ASKED: Readonly<Record<string, string>> = {
  brevo: "dateOrder ADDED_TIME, dateOrder MODIFIED_TIME",
  "duplicate-columns": "sameField",
  "excel-fr-semicolon-bom": "dateOrder Date d'inscription",
  "outlook-contacts": "dateOrder Birthday",
  "stripe-customers": "unusedStatus Status",
  types: "dateOrder date4, dateOrder date5",
};

async function plan(name: string): Promise<PlannedTable> {
  const { text, isGuessed = false } = decodeText(readFileSync(new URL(`${name}.csv`, FOLDER)));
  const { table } = findTable(text ?? "");
  if (text === undefined || table === undefined) throw new Error(`${name} has no table`);
  const { survey, sampleRows } = await surveyTable(text, table);
  if (survey === undefined) throw new Error(`${name} has an open quote`);
  const columns = planColumns(table, survey, sampleRows, new Map());
  return { name, text, files: null, isGuessed, table, survey, columns };
}

function rowsOf({ text, table }: PlannedTable): string[][] {
  const reader = createCsvReader(text.slice(table.start), table.separator, true);
  const rows: string[][] = [];
  for (let row = reader.next(); row !== null; row = reader.next())
    if (row.kind === "row" && !isEmptyRow(row.cells)) rows.push(row.cells);
  return rows;
}

/** Answers like a user who reads the questions. Dates start with the day, and a payment status is no subscription status. */
function answered(planned: PlannedTable): PlannedTable {
  return planned.columns.reduce((before, column, columnAt) => {
    const change = {
      ...(column.isAmbiguous ? ({ dateFormat: "DMY" } as const) : {}),
      ...(column.isStatusLike && column.target !== "status" ? { isNoStatus: true } : {}),
    };
    return changeColumn(before, columnAt, change);
  }, planned);
}

/** Returns the rows as the server reads them: its proposal, changed by the mapping that the wizard sends. */
function readAsServer(planned: PlannedTable) {
  const rows = rowsOf(planned);
  const proposed = proposeMapping(planned.table, rows, { keys: "exact" });
  const { columns = [], problems = [] } = resolveMapping(planned.table, proposed.columns, mappingOf(planned));
  expect(problems).toEqual([]);
  const read = createPersonReader(columns, { decimal: "point" });
  return rows.map((cells) => read(cells));
}

const accepted = EXPECTED_EXPORTS.filter(({ refused }) => refused === undefined);

test.for(accepted)(
  "nobody who left is subscribed by the export $name",
  async ({ name, subscribed, left, reported = [] }) => {
    const proposed = await plan(name);
    const asked = openQuestions(proposed).map((question) =>
      "column" in question ? `${question.kind} ${question.column}` : question.kind,
    );
    expect(asked.join(", ")).toBe(ASKED[name] ?? "");
    const planned = answered(proposed);
    expect(openQuestions(planned)).toEqual([]);

    const people = readAsServer(planned).flatMap((person) => ("code" in person ? [] : [person]));
    const addressesOf = (isIn: boolean) =>
      people
        // A new contact without a status is subscribed.
        .filter(({ status = "subscribed" }) => (status === "subscribed") === isIn)
        .map(({ email }) => email.split("@")[0]);
    expect(new Set(addressesOf(true))).toEqual(new Set(subscribed));
    expect(left).toEqual(expect.arrayContaining(addressesOf(false)));

    const count = await countPeople(planned, NO_OPTIONS, new AbortController().signal);
    const { byStatus, withoutStatus, failed, faults } = count;
    expect(faults.map(({ row }) => row)).toEqual(reported);
    expect(failed).toBe(reported.length);
    expect(byStatus.subscribed + withoutStatus).toBe(addressesOf(true).length);
    expect(byStatus.unsubscribed + byStatus.suppressed + byStatus.skip).toBe(addressesOf(false).length);
  },
);

test("rejects every other export until the user changes its columns", () => {
  const refused = EXPECTED_EXPORTS.filter((one) => !accepted.includes(one)).map(({ name }) => name);
  expect(refused).toEqual(["duplicate-columns", "reserved-columns"]);
});

test("asks about columns with the same name before anything is sent", async () => {
  const planned = await plan("duplicate-columns");
  expect(openQuestions(planned)).toEqual([{ kind: "sameField", field: "name" }]);
  const renamed = changeColumn(planned, 3, { field: "fullName" });
  expect(openQuestions(renamed)).toEqual([]);
  const [person] = readAsServer(renamed);
  expect(person).toMatchObject({ data: { name: "Ada", name2: "ada", fullName: "ADA" } });
});

test("reads dates in the chosen order and keeps texts that only look like numbers", async () => {
  const [person] = readAsServer(answered(await plan("types")));
  expect(person).toMatchObject({
    data: {
      zip: "02108",
      phone: "+4930123456",
      sci: "1e5",
      big: "12345678901234567890",
      date1: "2024-02-03",
      date4: "2024-02-03",
      date5: "2024-02-03",
      date6: "2024-02-03",
    },
  });
  expect(person).not.toHaveProperty("data.nul");
  expect(person).not.toHaveProperty("data.na");
});

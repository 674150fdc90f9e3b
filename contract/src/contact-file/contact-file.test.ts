// Tests the reader of imported files with exports of other services: table, mapping and people.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createCsvReader } from "../read-csv.ts";
import { EXPECTED_EXPORTS } from "./exports/expected.ts";
import { cleanAddress } from "./clean-address.ts";
import { findTable } from "./find-table.ts";
import type { GivenColumn } from "./mapping.ts";
import { proposeMapping } from "./propose-mapping.ts";
import { readDate } from "./read-date.ts";
import { readPerson } from "./read-person.ts";
import { resolveMapping } from "./resolve-mapping.ts";

function textOf(name: string): string {
  const bytes = readFileSync(new URL(`exports/${name}.csv`, import.meta.url));
  return new TextDecoder(name.includes("utf16le") ? "utf-16le" : "utf-8").decode(bytes);
}

function read(text: string, input: readonly GivenColumn[] = [], keys: "exact" | "readable" = "readable") {
  const { table } = findTable(text);
  if (table === undefined) throw new Error("The file has no table.");
  const reader = createCsvReader(text.slice(table.start), table.separator, true);
  const rows: Array<{ number: number; cells: string[] }> = [];
  for (let number = table.firstRow; ; number++) {
    const row = reader.next();
    if (row === null) break;
    if (row.kind === "row") rows.push({ number, cells: row.cells });
  }
  const cells = rows.map((row) => row.cells);
  const proposed = proposeMapping(table, cells, { keys });
  const { columns = [], problems = [] } = resolveMapping(table, proposed.columns, input);
  const people =
    problems.length > 0 ? [] : rows.map((row) => ({ ...row, read: readPerson(columns, row.cells) }));
  return { table, columns, problems, people, warnings: proposed.warnings };
}

const local = (address: string) => address.split("@")[0] ?? "";
const isLeft = ({ status }: { status: string | undefined }) =>
  status === "unsubscribed" || status === "suppressed";

test.for(EXPECTED_EXPORTS.filter(({ refused }) => refused === undefined))(
  "$name: the right people are subscribed and no one is lost",
  ({ name, email, subscribed, left, reported = [], statuses = [] }) => {
    const { columns, problems, people } = read(textOf(name));
    expect(problems).toEqual([]);
    expect(columns.find(({ target }) => target === "email")?.name).toBe(email);
    expect(columns.filter(({ target }) => target === "status").map((column) => column.name)).toEqual(
      statuses,
    );
    const ok = people.flatMap(({ read: person }) => ("code" in person ? [] : [person]));
    expect([...new Set(ok.filter((person) => !isLeft(person)).map((person) => local(person.email)))]).toEqual(
      subscribed,
    );
    expect(ok.filter(isLeft).map((person) => local(person.email))).toEqual(
      reported.length > 0 ? left.filter((one) => !one.startsWith("na")) : left,
    );
    expect(people.filter(({ read: person }) => "code" in person).map(({ number }) => number)).toEqual(
      reported,
    );
  },
);

const keysOf = (name: string, keys: "exact" | "readable" = "readable") =>
  read(textOf(name), [], keys).columns.flatMap(({ field }) => field ?? []);

test("maps services' names for the same thing to the same keys, while the API keeps template-safe names", () => {
  const services = ["activecampaign", "brevo", "mailchimp-audience", "mautic", "sendgrid-contacts", "resend"];
  const keys = services.map((name) => keysOf(name).filter((key) => /^(?:first|last)Name$/.test(key)));
  expect(keys).toEqual(services.map(() => ["firstName", "lastName"]));
  expect(keysOf("shopify-customers").slice(0, 12)).toEqual([
    "customerId",
    "firstName",
    "lastName",
    "company",
    "address",
    "defaultAddressAddress2",
    "city",
    "state",
    "defaultAddressCountryCode",
    "zip",
    "defaultAddressPhone",
    "phone",
  ]);
  expect(keysOf("mailerlite")).toContain("subscribedAt");
  expect(keysOf("plunk", "exact")).toEqual(["firstName", "plan"]);
  expect(keysOf("brevo", "exact").slice(0, 3)).toEqual(["contactId", "FIRSTNAME", "LASTNAME"]);
  expect(keysOf("excel-fr-semicolon-bom")).toEqual([
    "firstName",
    "lastName",
    "zip",
    "dateInscription",
    "montant",
  ]);
});

const DATES: Array<[string, "YMD" | "DMY" | "MDY" | null, string | null]> = [
  ["2024-02-03 04:05", null, "2024-02-03T04:05:00Z"],
  ["2023-10-06 23:47:56.678+00", null, "2023-10-06T23:47:56.678Z"],
  ["2023-03-10 20:26:04 UTC", null, "2023-03-10T20:26:04Z"],
  ["2024-02-03T23:30:00-01:30", null, "2024-02-04T01:00:00Z"],
  ["2024/2/3", null, "2024-02-03"],
  ["3. Februar 2024", null, "2024-02-03"],
  ["3 de febrero de 2024", null, "2024-02-03"],
  ["Sat, February 3rd, 2024 4:05 pm", null, "2024-02-03T16:05:00Z"],
  ["03/02/2024", null, null],
  ["03/02/2024", "DMY", "2024-02-03"],
  ["03/02/2024 12:30 AM", "MDY", "2024-03-02T00:30:00Z"],
  ["31/02/2024", "DMY", null],
  ["13/13/2024", "MDY", null],
  ["3/2/24", "DMY", null],
  ["2024-02-30", null, null],
  ["2024-02-03 24:00", null, null],
  ["Room 12, 2024", null, null],
];

test.for(DATES)("%s in the order %s is %s", ([text, order, date]) => {
  expect(readDate(text, order)).toBe(date);
});

const ADDRESSES: Array<[string, string | null]> = [
  ['"Lovelace, Ada" <ada@x.org>', "ada@x.org"],
  ["<ada@x.org>;", "ada@x.org"],
  ["mailto:ada@x.org?subject=Hi", "ada@x.org"],
  ["Ada (ada@x.org)", null],
  ["\u00a0ada@x.org\u200b", "ada@x.org"],
  ["'ada@x.org'", "ada@x.org"],
  ["ada@x.org ada@x.org", null],
  ["ada@x.org; bob@x.org", null],
  ["", null],
];

test.for(ADDRESSES)("the address of %s is %s", ([cell, email]) => {
  const cleaned = cleanAddress(cell);
  expect("email" in cleaned ? cleaned.email : null).toBe(email);
});

function columnOf(text: string) {
  const { table, columns, people } = read(text);
  const email = columns.find(({ target }) => target === "email")?.name;
  return [table.hasHeader, table.firstRow, email, people.length];
}

const statusesOf = (text: string) =>
  read(text).people.map(({ read: person }) => ("code" in person ? "error" : (person.status ?? "-")));

test("never takes a row with a person for a header, or a row above the header for a person", () => {
  expect(columnOf("ada@x.org,email\nbob@x.org,web\n")).toEqual([false, 1, "Column 1", 2]);
  expect(columnOf("Leute,Wohnort\nada@x.org,Bonn\n")).toEqual([true, 2, "Leute", 1]);
  expect(columnOf("Export of email\n\nName|E-Mail\nAda|ada@x.org\n")).toEqual([true, 4, "E-Mail", 1]);
  expect(columnOf('"sep=|"\nName|Kontakt\nAda|ada@x.org\nBob|bob@x.org\n')).toEqual([true, 3, "Kontakt", 2]);
});

test("the strictest consent column of a file decides, ignoring other channels and statuses", () => {
  expect(statusesOf("email,Accepts Marketing\na@x.org,yes\nb@x.org,\n")).toEqual([
    "subscribed",
    "unsubscribed",
  ]);
  expect(statusesOf("email,SMS Marketing Consent\na@x.org,UNSUBSCRIBED\n")).toEqual(["-"]);
  expect(statusesOf("email,Bounced,Status\na@x.org,true,active\nb@x.org,false,active\n")).toEqual([
    "suppressed",
    "subscribed",
  ]);
  // An empty cell next to another status says nothing.
  expect(statusesOf("email,Accepts Marketing,Member Status\na@x.org,,active\nb@x.org,yes,\n")).toEqual([
    "subscribed",
    "subscribed",
  ]);
  expect(statusesOf("email,Lead Status\na@x.org,Open\n")).toEqual(["-"]);
  expect(
    statusesOf('address,code,error,created_at\na@x.org,550,No such user,"Fri, 21 Oct 2011 11:02:55 UTC"\n'),
  ).toEqual(["suppressed"]);
});

// The reader of imported files, on the exports of other services: the table, the mapping, each person.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createCsvReader } from "../read-csv.ts";
import { EXPECTED_EXPORTS } from "./exports/expected.ts";
import { findTable } from "./find-table.ts";
import type { GivenColumn } from "./mapping.ts";
import { proposeMapping } from "./propose-mapping.ts";
import { readPerson } from "./read-person.ts";
import { resolveMapping } from "./resolve-mapping.ts";

function textOf(name: string): string {
  const bytes = readFileSync(new URL(`exports/${name}.csv`, import.meta.url));
  return new TextDecoder(name.includes("utf16le") ? "utf-16le" : "utf-8").decode(bytes);
}

function read(text: string, given: readonly GivenColumn[] = [], keys: "exact" | "readable" = "readable") {
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
  const { columns = [], problems = [] } = resolveMapping(table, proposed.columns, given);
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

test("services' names for the same thing become the same keys, and the API keeps names that work in templates", () => {
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

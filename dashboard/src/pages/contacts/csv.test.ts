// Any table of addresses becomes one that the import takes: its address column found, what is ignored left out, every other value as it was.
import { expect, test } from "vitest";
import { guessedValues, guessMapping, samplesOf, writeCsv, type CsvFile } from "./csv.ts";

const file: CsvFile = {
  name: "people.csv",
  firstRow: 2,
  faults: [],
  header: ["Name", "E-Mail", "data.plan", "Opt-In", ""],
  rows: [
    ["Ada, Countess", "ada@example.com", "pro", "yes", "x"],
    ["نور", "noor@example.com", 'a "free" one', "", "y"],
  ],
  isGuessed: false,
};

test("columns are known by their names", () => {
  expect(guessMapping(file)).toEqual(["Name", "email", "plan", "subscribed", null]);
});

test("where no column is named so, the one that holds addresses is the address", () => {
  const unnamed = { ...file, header: ["who", "where", "plan", "ok", "z"] };
  expect(guessMapping(unnamed)[1]).toBe("email");
});

test("an email column is the address, even behind one of postal addresses", () => {
  const postal = { ...file, header: ["Adresse", "E-Mail-Adresse"], rows: [["Weg 1", "ada@example.com"]] };
  expect(guessMapping(postal)).toEqual(["Adresse", "email"]);
  expect(guessMapping({ ...postal, header: ["Adresse", "Kontakt"] })).toEqual(["Adresse", "email"]);
  expect(guessMapping({ ...postal, header: ["Address", "Adresse"] })).toEqual(["Address", "email"]);
  expect(guessMapping({ ...postal, header: ["Adresse", "Ort"], rows: [["", ""]] })).toEqual(["email", "Ort"]);
});

test("of a file whose letters are a guess, the values that show it are told once each", () => {
  const rows = [["Anna"], ["Müller"], ["Müller"], ["José"]];
  expect(guessedValues({ ...file, header: ["Straße"], rows })).toEqual(["Straße", "Müller", "José"]);
});

test("the address comes first, what is ignored is gone, and values keep their commas, quotes and letters", async () => {
  const text = await writeCsv(file, ["firstName", "email", null, "subscribed", null], []).text();
  expect(text.split("\n")).toEqual([
    "email,firstName,subscribed",
    'ada@example.com,"Ada, Countess",yes',
    "noor@example.com,نور,",
  ]);
  expect(samplesOf(file, 2)).toEqual(["pro", 'a "free" one']);
});

test("values of own fields are written as the type that was chosen for them, the others as they are", async () => {
  const rows = [["ada@example.com", "12345", "ja", "1"]];
  const typed = { ...file, header: ["email", "zip", "vip", "subscribed"], rows };
  const types = [null, "text", "boolean", "text"] as const;
  const text = await writeCsv(typed, ["email", "zip", "vip", "subscribed"], types).text();
  expect(text.split("\n")[1]).toBe("ada@example.com,'12345,true,1");
});

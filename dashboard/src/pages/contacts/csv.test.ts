// Any table of addresses becomes one that the import takes: its address column found, what is ignored left out, every other value as it was.
import { expect, test } from "vitest";
import { guessMapping, samplesOf, writeCsv } from "./csv.ts";

const file = {
  name: "people.csv",
  header: ["Name", "E-Mail", "data.plan", "Opt-In", ""],
  rows: [
    ["Ada, Countess", "ada@example.com", "pro", "yes", "x"],
    ["نور", "noor@example.com", 'a "free" one', "", "y"],
  ],
};

test("columns are known by their names", () => {
  expect(guessMapping(file)).toEqual(["Name", "email", "plan", "subscribed", null]);
});

test("where no column is named so, the one that holds addresses is the address", () => {
  const unnamed = { ...file, header: ["who", "where", "plan", "ok", "z"] };
  expect(guessMapping(unnamed)[1]).toBe("email");
});

test("the address comes first, what is ignored is gone, and values keep their commas, quotes and letters", async () => {
  const text = await writeCsv(file, ["firstName", "email", null, "subscribed", null]).text();
  expect(text.split("\n")).toEqual([
    "email,firstName,subscribed",
    'ada@example.com,"Ada, Countess",yes',
    "noor@example.com,نور,",
  ]);
  expect(samplesOf(file, 2)).toEqual(["pro", 'a "free" one']);
});

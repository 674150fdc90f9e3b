// Tests that inserted variables print the value of their field for any field name.
import { expect, test } from "vitest";
import { compileTemplate } from "../../../../server/src/rendering/compile-template.ts";
import { parseTemplate } from "../../../../server/src/rendering/template-syntax.ts";
import { writtenName } from "@postloft/contract/merge-tags/variables.ts";
import { withFallback } from "./write-variable.ts";

function render(source: string, values: Record<string, unknown>): string {
  const { program, problems } = parseTemplate(source);
  if (program === null) throw new Error(JSON.stringify(problems));
  return compileTemplate(program, { escape: true })(values);
}

const NAMES = [
  "firstName",
  "First Name",
  "e-mail",
  "Prénom",
  "a.b",
  "a/b",
  "why?",
  "x ?? y",
  "List: News*",
  "tag (metadata)",
  "100",
  "true",
  "this",
  "else",
  "as",
  "if",
  "a]b",
  "Country / Region",
  "Date d'inscription",
];

test.for(NAMES)("inserting the variable %j prints its value", (name) => {
  expect(render(`{{${writtenName(name)}}}`, { [name]: "value" })).toBe("value");
});

test.for(NAMES)("inserting the variable %j with a fallback prints the value, else the fallback", (name) => {
  const written = `{{${withFallback({ name, coverage: 0.5, fallback: "friend" })}}}`;
  expect(render(written, { [name]: "value" })).toBe("value");
  expect(render(written, {})).toBe("friend");
});

test("writes plain names without brackets and names with a space in brackets", () => {
  expect(["firstName", "e-mail", "First Name"].map(writtenName)).toEqual([
    "firstName",
    "e-mail",
    "[First Name]",
  ]);
});

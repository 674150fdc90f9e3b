// Tests that code samples use the given sender, even if its name contains a quote.
import { expect, test } from "vitest";
import { snippetsOf } from "./snippets.ts";

const SENDER = `Pat O'Neil <pat@shop.example>`;

test.each(Object.entries(snippetsOf("http://localhost:3000", "sk_1", SENDER)))(
  "%s contains an email from the sender as JSON that no quote breaks",
  (_language, program) => {
    const written = /\{\s*"to".*?\}/s.exec(program)?.[0] ?? "";
    expect(JSON.parse(written)).toMatchObject({ to: "ada@example.com", from: SENDER });
    expect(written).not.toContain("'");
    expect(program).toContain("sk_1");
  },
);

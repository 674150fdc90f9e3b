// The first mail is sent from the sender that is given, also where its name has a quote in it.
import { expect, test } from "vitest";
import { snippetsOf } from "./snippets.ts";

const SENDER = `Pat O'Neil <pat@shop.example>`;

test.each(Object.entries(snippetsOf("http://localhost:3000", "sk_1", SENDER)))(
  "%s has a mail from the sender, in JSON that no quote ends",
  (_language, program) => {
    const written = /\{\s*"to".*?\}/s.exec(program)?.[0] ?? "";
    expect(JSON.parse(written)).toMatchObject({ to: "ada@example.com", from: SENDER });
    expect(written).not.toContain("'");
    expect(program).toContain("sk_1");
  },
);

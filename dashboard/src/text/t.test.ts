// Tests how messages of the server are translated.
import { expect, test, vi } from "vitest";
import type { ErrorMessage } from "@postloft/contract/translation.ts";

vi.stubGlobal("localStorage", { getItem: () => null });
vi.stubGlobal("navigator", { languages: ["de-DE"] });
// Imported after the stubs, because the module chooses its language when it loads.
const { translateMessage } = await import("./t.ts");

const members = (most: number | string) => ({
  message: `A project can have up to ${most} members.`,
  translation: { key: "A project can have up to {most} members.", values: { most } },
});
const MESSAGES: Array<[title: string, message: ErrorMessage, shown: string]> = [
  ["a constant text", { message: "Must be in the future." }, "Muss in der Zukunft liegen."],
  ["a number in the reader's format", members(12_000), "Ein Projekt hat höchstens 12.000 Mitglieder."],
  ["a value with a placeholder in it", members("{most}"), "Ein Projekt hat höchstens {most} Mitglieder."],
  ["an unknown text", { message: "Is new here." }, "Is new here."],
  ["an unknown key", { message: "Is 3.", translation: { key: "Is {n}.", values: { n: 3 } } }, "Is 3."],
  [
    "a text without its values",
    { message: "A project can have up to 100 members." },
    "A project can have up to 100 members.",
  ],
  ["a name that every object has", { message: "constructor" }, "constructor"],
];

test.each(MESSAGES)("translates %s", (_title, message, shown) => {
  expect(translateMessage(message)).toBe(shown);
});

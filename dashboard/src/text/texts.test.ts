// Every text of the dashboard goes through `t` or `plural`, so that it can be said in every language.
import { expect, test } from "vitest";
import { readTexts } from "../../../tools/dashboard-texts/texts.ts";

test("no text is shown as it is written: each is given to t or plural", () => {
  const { messages, bare } = readTexts();
  expect(bare).toEqual([]);
  expect(messages.length).toBeGreaterThan(100);
});

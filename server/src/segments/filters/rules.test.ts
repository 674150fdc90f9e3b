// Case folding: folding the search text or the searched text gives the same result for all of Unicode.
import { expect, test } from "vitest";
import { foldText, foldingOf, ODD_LETTERS } from "./rules.ts";

const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;
const UNICODE_END = 0x110000;

test("folding only the letters of the search text finds the same as folding all letters", () => {
  const wrong: string[] = [];
  for (let code = 0; code < UNICODE_END; code++) {
    if (code >= FIRST_SURROGATE && code < AFTER_SURROGATES) continue;
    const letter = String.fromCodePoint(code);
    if (letter.toLowerCase() === letter && letter.toUpperCase() === letter) continue;
    const folded = foldText(letter);
    if (folded === letter) continue;
    const isOdd = folded.toUpperCase() !== letter;
    if (isOdd !== ODD_LETTERS.includes(letter) || foldText(folded) !== folded) wrong.push(code.toString(16));
    const { from, to } = foldingOf(folded);
    if (Array.from(to)[Array.from(from).indexOf(letter)] !== folded) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test.for([
  ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
  ["Straße", "STRAßE"],
  ["\u212Aelvin", "kelvin"],
] as const)("%s and %s fold to the same text", ([one, other]) => {
  expect(foldText(one)).toBe(foldText(other));
});

// Tests the scale and the lines of charts.
import { expect, test } from "vitest";
import { dotsOf, pathOf, scaleEnd } from "./chart-scale.ts";

test("ends a scale at the next of 1, 2 or 5 times a power of ten", () => {
  for (const [most, end] of [
    [0, 1],
    [3, 5],
    [10, 10],
    [11, 20],
    [4_999, 5_000],
  ] as const)
    expect(scaleEnd(most, true)).toBe(end);
  for (const [most, end] of [
    [0, 0.01],
    [0.075, 0.1],
    [0.15, 0.2],
    [34.2, 50],
  ] as const)
    expect(scaleEnd(most, false)).toBe(end);
});

test("interrupts a line where a value is missing, and draws a lone value as a point", () => {
  expect(pathOf([0, 5, null, 10, null], 10)).toBe("M0 100L25 50M75 0");
  expect(dotsOf([0, 5, null, 10, null], 10)).toBe("M75 0L75 0");
  expect(pathOf([], 1)).toBe("");
});

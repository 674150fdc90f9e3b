// Packing and unpacking of traces.
import { expect, test } from "vitest";
import type { StepRun } from "./execution.ts";
import { packTrace, unpackTrace } from "./stored-trace.ts";

const T = Date.UTC(2026, 0, 1);
const store = (trace: StepRun[]) => JSON.parse(packTrace(trace)) as object[];

test("restores a trace exactly, whether its last run is open or ended", () => {
  const trace: StepRun[] = [
    { n: 0, at: T, end: T },
    { n: 1, at: T, end: T, out: { emailId: "x" } },
    { n: 2, at: T, end: T + 5_000, until: T + 5_000 },
    { n: 3, at: T + 5_000, end: T + 5_000, via: "yes" },
    { n: 4, at: T + 5_000, is: "FAILED", error: "e", end: T + 5_000 },
    { n: 4, at: T + 9_000, end: T + 9_500 },
  ];
  for (let length = 0; length <= trace.length; length++) {
    const ended = trace.slice(0, length);
    expect(unpackTrace(store(ended))).toEqual(ended);
    const open = ended.map(
      ({ end, ...run }, place) => (place === length - 1 ? run : { ...run, end }) as StepRun,
    );
    expect(unpackTrace(store(open))).toEqual(open);
  }
});

test("omits times that follow from neighbours, except the end of the last run", () => {
  const stored = store([
    { n: 0, at: T, end: T },
    { n: 1, at: T, end: T },
    { n: 2, at: T, end: T },
  ]);
  expect(stored).toEqual([{ n: 0, at: T }, { n: 1 }, { n: 2, end: T }]);
});

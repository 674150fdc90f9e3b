// The sequence of a RANDOM_SPLIT, compared with its promise for any shares and any number of contacts.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { randomSplitConfig, type Share } from "@postloft/contract/workflows/branches.ts";
import { shareSequence, shuffledAt } from "./shares.ts";

const WHOLE = 10_000;

/** Between 2 and 20 shares in hundredths of a percent, from cuts of the whole. */
const shares = fc
  .uniqueArray(fc.integer({ min: 1, max: WHOLE - 1 }), { minLength: 1, maxLength: 19 })
  .map((cuts): Share[] => {
    const ends = [0, ...cuts.toSorted((one, other) => one - other), WHOLE];
    return ends.slice(1).map((end, at) => ({ name: `s${at}`, percent: (end - (ends[at] ?? 0)) / 100 }));
  });

test("gives each share its percent of the contacts, rounded up or down, after any number of contacts", () => {
  fc.assert(
    fc.property(shares, fc.integer({ min: 1, max: 2 * WHOLE }), (drawn, contacts) => {
      const shareOf = shareSequence(drawn);
      const faults: string[] = [];
      const counts = new Map<string, number>();
      for (let before = 0; before < contacts; before++) {
        const { name } = shareOf(before);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        for (const { name: one, percent } of drawn) {
          const quota = (Math.round(percent * 100) * (before + 1)) / WHOLE;
          const count = counts.get(one) ?? 0;
          if (count < Math.floor(quota) || count > Math.ceil(quota))
            faults.push(`${one} (${percent} %) has ${count} of ${before + 1} contacts.`);
        }
      }
      expect(faults).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("returns the same share for the same number of contacts before, in any order of questions", () => {
  fc.assert(
    fc.property(shares, fc.array(fc.nat(3 * WHOLE), { maxLength: 20 }), (drawn, places) => {
      const [one, other] = [shareSequence(drawn), shareSequence(drawn)];
      for (const place of places) expect(one(place)).toBe(other(place % WHOLE));
    }),
    { numRuns: 40 },
  );
});

test("accepts exactly the shares that add up to 100 percent", () => {
  fc.assert(
    fc.property(shares, (drawn) => {
      expect(randomSplitConfig.safeParse({ shares: drawn }).success).toBe(true);
      const [first, ...rest] = drawn;
      const less = { name: "s0", percent: Math.round((first?.percent ?? 0) * 100 - 1) / 100 };
      expect(randomSplitConfig.safeParse({ shares: [less, ...rest] }).success).toBe(false);
    }),
    { numRuns: 100 },
  );
});

test("shuffles the marked items evenly among their own places", () => {
  const items = ["a", "1", "b", "2", "c", "3"];
  const seen = new Map<string, number>();
  for (let round = 0; round < 6_000; round++) {
    const order = shuffledAt(items, (item) => Number(item) > 0);
    expect(order.filter((_, at) => at % 2 === 0)).toEqual(["a", "b", "c"]);
    const numbers = order.filter((_, at) => at % 2 === 1).join("");
    seen.set(numbers, (seen.get(numbers) ?? 0) + 1);
  }
  expect([...seen.keys()].toSorted()).toEqual(["123", "132", "213", "231", "312", "321"]);
  // Six orders of about 1,000 each. A fair shuffle leaves these limits once in about 10^11 runs.
  for (const count of seen.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
});

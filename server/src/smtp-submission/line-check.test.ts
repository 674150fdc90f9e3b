// Tests that bare line ends and NUL bytes are found wherever the network splits a message.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLineCheck } from "./line-check.ts";

const bytes = fc.string({ unit: fc.constantFrom("\r\n", "\r", "\n", "\0", ".", "a"), maxLength: 12 });

test("finds a bare CR, a bare LF or a NUL byte in any pieces", () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(24), { maxLength: 5 }), (text, cuts) => {
      const check = createLineCheck();
      const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      for (const [at, from] of places.entries())
        check.add(Buffer.from(text.slice(from, places[at + 1] ?? from), "latin1"));
      const isAllowed = !/[\r\n\0]/.test(text.replaceAll("\r\n", ""));
      expect(check.fault() === null).toBe(isAllowed);
    }),
    { numRuns: 2_000 },
  );
});

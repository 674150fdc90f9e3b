// Shared work: who asks at the same time has it done once.
import { expect, test } from "vitest";
import { shared } from "./shared-work.ts";

test("those who ask meanwhile share one look, and the next one looks anew", async () => {
  let looks = 0;
  const look = shared(async () => {
    looks += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return looks;
  });
  expect(await Promise.all([look(), look(), look()])).toEqual([1, 1, 1]);
  expect(await look()).toBe(2);
});

test("a look that fails fails for those who share it alone", async () => {
  let looks = 0;
  const look = shared(async () => {
    looks += 1;
    if (looks === 1) throw new Error("away");
    return looks;
  });
  const asked = await Promise.allSettled([look(), look()]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await look()).toBe(2);
});

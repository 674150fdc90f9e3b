// Tests that concurrent callers share one run of the work.
import { expect, test } from "vitest";
import { shared } from "./shared-work.ts";

test("shares one run among concurrent callers and starts a new one for the next", async () => {
  let looks = 0;
  const look = shared(async () => {
    looks += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return looks;
  });
  expect(await Promise.all([look(), look(), look()])).toEqual([1, 1, 1]);
  expect(await look()).toBe(2);
});

test("a failed run rejects only the callers that share it", async () => {
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

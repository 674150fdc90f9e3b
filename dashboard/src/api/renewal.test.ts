// Calls without a session wait for one where it can be begun anew, and only as long as somebody may still do that.
import { expect, test } from "vitest";
import { createRenewal } from "./renewal.ts";

function offered() {
  const renewal = createRenewal();
  const asked = { times: 0 };
  const withdraw = renewal.offer(() => void asked.times++);
  return { renewal, asked, withdraw };
}

test("all that wait go on with the session of the same user, and with no other", async () => {
  const { renewal, asked } = offered();
  const some = [renewal.isDone(), renewal.isDone()];
  renewal.end(true);
  expect(await Promise.all(some)).toEqual([true, true]);
  const others = renewal.isDone();
  renewal.end(false);
  expect(await others).toBe(false);
  expect(asked.times).toBe(3);
});

test("whoever leaves for the sign-in page holds nothing up, until there is a session again", async () => {
  const { renewal } = offered();
  const before = renewal.isDone();
  renewal.giveUp();
  expect(await Promise.all([before, renewal.isDone()])).toEqual([false, false]);
  renewal.end(true);
  const after = renewal.isDone();
  renewal.end(true);
  expect(await after).toBe(true);
});

test("a call that nobody wants any more does not wait, nor does one where nobody can sign in", async () => {
  const { renewal, withdraw } = offered();
  const leaving = new AbortController();
  const one = renewal.isDone(leaving.signal);
  leaving.abort();
  expect(await one).toBe(false);
  const open = renewal.isDone();
  withdraw();
  expect(await Promise.all([open, renewal.isDone()])).toEqual([false, false]);
});

// Tests how calls without a session wait for a new sign-in.
import { expect, test } from "vitest";
import { createRenewal } from "./renewal.ts";

function offered() {
  const renewal = createRenewal();
  const asked = { times: 0 };
  const withdraw = renewal.offer(() => void asked.times++);
  return { renewal, asked, withdraw };
}

test("waiting calls continue only if the same user signs in again", async () => {
  const { renewal, asked } = offered();
  const some = [renewal.isDone(), renewal.isDone()];
  renewal.end(true);
  expect(await Promise.all(some)).toEqual([true, true]);
  const others = renewal.isDone();
  renewal.end(false);
  expect(await others).toBe(false);
  expect(asked.times).toBe(3);
});

test("waiting calls fail when the user leaves for the sign-in page, until there is a new session", async () => {
  const { renewal } = offered();
  const before = renewal.isDone();
  renewal.giveUp();
  expect(await Promise.all([before, renewal.isDone()])).toEqual([false, false]);
  renewal.end(true);
  const after = renewal.isDone();
  renewal.end(true);
  expect(await after).toBe(true);
});

test("an aborted call does not wait, nor does a call on a page that cannot renew sessions", async () => {
  const { renewal, withdraw } = offered();
  const leaving = new AbortController();
  const one = renewal.isDone(leaving.signal);
  leaving.abort();
  expect(await one).toBe(false);
  const open = renewal.isDone();
  withdraw();
  expect(await Promise.all([open, renewal.isDone()])).toEqual([false, false]);
});

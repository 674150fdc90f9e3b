// Turns: who goes first, how many at once, and when it is too many.
import { expect, test } from "vitest";
import { createTimeSpent } from "./time-spent.ts";
import { createTurns } from "./turns.ts";

/** Work that ends when it is told to, and the order in which it began. */
function playWork() {
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  return {
    begun,
    work: (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    async endNext() {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("whoever has had no turn goes before one that took time and has many waiting", async () => {
  const turns = createTurns({ atOnce: 1, waitingPerOwner: 10, waiting: 20 });
  const { begun, work, endNext } = playWork();
  for (const name of ["a1", "a2", "a3"]) void turns.take("a", work(name));
  void turns.take("b", work("b1"));
  for (let at = 0; at < 4; at++) await endNext();
  expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
});

test("so many are in progress at once, and work that fails gives its place back", async () => {
  const turns = createTurns({ atOnce: 2, waitingPerOwner: 10, waiting: 20 });
  const { begun, work, endNext } = playWork();
  for (const name of ["a1", "a2", "a3"]) void turns.take("a", work(name));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(["a1", "a2"]);
  await endNext();
  expect(begun).toEqual(["a1", "a2", "a3"]);
  await endNext();
  await endNext();
  await expect(turns.take("a", async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(turns.take("a", async () => "yes")).resolves.toBe("yes");
});

test("one owner has so many in progress, and the other places are for others", async () => {
  const turns = createTurns({ atOnce: 3, atOncePerOwner: 1, waitingPerOwner: 10, waiting: 20 });
  const { begun, work, endNext } = playWork();
  for (const name of ["a1", "a2"]) void turns.take("a", work(name));
  void turns.take("b", work("b1"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(["a1", "b1"]);
  await endNext();
  expect(begun).toEqual(["a1", "b1", "a2"]);
});

test("too many of one owner are refused, and others are not", async () => {
  const turns = createTurns({ atOnce: 1, waitingPerOwner: 2, waiting: 4 });
  const { work } = playWork();
  for (const name of ["a1", "a2", "a3"]) void turns.take("a", work(name));
  await expect(turns.take("a", work("a4"))).rejects.toMatchObject({
    code: "RATE_LIMIT_EXCEEDED",
    retryAfterSeconds: 2,
  });
  void turns.take("b", work("b1"));
  void turns.take("c", work("c1"));
  await expect(turns.take("d", work("d1"))).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
});

test("a tenth of the time that passes is forgotten of what was taken", () => {
  let nowMs = 0;
  const spent = createTimeSpent(() => nowMs);
  spent.add("a", 100);
  nowMs = 500;
  expect(spent.of("a")).toBe(50);
  spent.add("a", 10);
  expect(spent.of("a")).toBe(60);
  nowMs = 2_000;
  expect(spent.of("a")).toBe(0);
  expect(spent.of("b")).toBe(0);
});

test("where turns rest, an owner's next one comes as much later as the last one took, and others go meanwhile", async () => {
  const turns = createTurns({ atOnce: 1, atOncePerOwner: 1, waitingPerOwner: 10, waiting: 20, rests: true });
  const times: Record<string, number> = {};
  const take = (owner: string, name: string) =>
    turns.take(owner, async () => {
      times[`${name} begins`] = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 30));
      times[`${name} ends`] = performance.now();
    });
  await Promise.all([take("a", "a1"), take("a", "a2"), take("b", "b1")]);
  const at = (name: string) => times[name] ?? Number.NaN;
  const tookMs = at("a1 ends") - at("a1 begins");
  // Timers may be a millisecond early.
  expect(at("a2 begins") - at("a1 ends")).toBeGreaterThanOrEqual(tookMs - 2);
  expect(at("b1 begins")).toBeLessThan(at("a2 begins"));
});

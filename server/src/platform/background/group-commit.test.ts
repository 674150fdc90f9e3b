// Tests what natural group commit guarantees to its callers.
import { expect, test } from "vitest";
import { createGroupCommit } from "./group-commit.ts";

function open<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, resolve };
}

test("items that arrive while a batch is in flight form the next batch, in their order", async () => {
  const batches: number[][] = [];
  const first = open<void>();
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 100,
    async run(items) {
      batches.push([...items]);
      if (batches.length === 1) await first.promise;
      return items.map((item) => item * 10);
    },
  });
  const one = commits.submit(1);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const later = [2, 3, 4].map((item) => commits.submit(item));
  first.resolve();
  expect(await Promise.all([one, ...later])).toEqual([10, 20, 30, 40]);
  expect(batches).toEqual([[1], [2, 3, 4]]);
});

test("a batch never exceeds its limit, and a shard never runs two batches concurrently", async () => {
  let running = 0;
  let most = 0;
  const sizes: number[] = [];
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 3,
    async run(items) {
      most = Math.max(most, ++running);
      sizes.push(items.length);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return [...items];
    },
  });
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map((item) => commits.submit(item)));
  expect(most).toBe(1);
  expect(sizes).toEqual([3, 3, 1]);
});

test("items of one shard stay in order and other shards do not wait for them", async () => {
  const stuck = open<void>();
  const done: string[] = [];
  const commits = createGroupCommit<string, string>({
    shards: 2,
    shardOf: (item) => (item.startsWith("slow") ? 0 : 1),
    maxItems: 10,
    async run(items) {
      if (items[0]?.startsWith("slow") === true) await stuck.promise;
      done.push(...items);
      return [...items];
    },
  });
  const slow = commits.submit("slow");
  await commits.submit("quick");
  expect(done).toEqual(["quick"]);
  stuck.resolve();
  await slow;
  expect(done).toEqual(["quick", "slow"]);
});

test("tries each item separately when a batch fails, and rejects only the bad item", async () => {
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 10,
    async run(items) {
      if (items.includes(13)) throw new Error("13 is not accepted");
      return [...items];
    },
  });
  const results = await Promise.allSettled([1, 13, 2].map((item) => commits.submit(item)));
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test.each([
  ["a few at a time", undefined, 4],
  ["one at a time when their order matters", 1, 1],
])("separate items are tried %s", async (_how, aloneAtOnce, expected) => {
  let running = 0;
  let most = 0;
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 10,
    ...(aloneAtOnce === undefined ? {} : { aloneAtOnce }),
    async run(items) {
      if (items.length > 1) throw new Error("not together");
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return [...items];
    },
  });
  const items = [1, 2, 3, 4, 5, 6];
  expect(await Promise.all(items.map((item) => commits.submit(item)))).toEqual(items);
  expect(most).toBe(expected);
});

test("rejects all items of a failed batch that may have taken effect, and never repeats it", async () => {
  let runs = 0;
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 10,
    async run() {
      runs++;
      throw new Error("Connection terminated");
    },
    hadNoEffect: () => false,
  });
  const results = await Promise.allSettled([1, 2].map((item) => commits.submit(item)));
  expect(results.map((result) => result.status)).toEqual(["rejected", "rejected"]);
  expect(runs).toBe(1);
});

test("rejects only the item with an Error as its result, without repeating the others", async () => {
  let runs = 0;
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 10,
    async run(items) {
      runs++;
      return items.map((item) => (item === 13 ? new Error("no") : item));
    },
  });
  const results = await Promise.allSettled([1, 13, 2].map((item) => commits.submit(item)));
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(runs).toBe(1);
});

test("is drained when no items wait or are in flight", async () => {
  let finished = false;
  const commits = createGroupCommit<number, number>({
    shards: 2,
    shardOf: (item) => item,
    maxItems: 10,
    async run(items) {
      await new Promise((resolve) => setImmediate(resolve));
      finished = true;
      return [...items];
    },
  });
  const submitted = commits.submit(1);
  await commits.drained();
  expect(finished).toBe(true);
  await submitted;
});

test("ends a batch before it gets too heavy and runs a heavier item alone", async () => {
  const batches: number[][] = [];
  const commits = createGroupCommit<number, number>({
    shards: 1,
    shardOf: () => 0,
    maxItems: 100,
    weightOf: (item) => item,
    maxWeight: 10,
    async run(items) {
      batches.push([...items]);
      return [...items];
    },
  });
  const items = [4, 6, 1, 30, 2, 3];
  expect(await Promise.all(items.map((item) => commits.submit(item)))).toEqual(items);
  expect(batches).toEqual([[4, 6], [1], [30], [2, 3]]);
});

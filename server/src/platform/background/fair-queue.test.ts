// Tests the fair queue: which owner is next, how much runs concurrently, which owners pause and which work is rejected.
import { expect, test } from "vitest";
import { createFairQueue, type FairQueueOptions, type Piece, type ResourcePiece } from "./fair-queue.ts";

const OPTIONS: FairQueueOptions = {
  atOnce: 1,
  atOncePerOwner: 4,
  waitingPerOwner: 10,
  waiting: 20,
  rests: false,
};

const on = (owner: string, resource: string, waiting: number) => ({
  owner,
  resource,
  waitingPerOwner: 5,
  waiting,
});
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Starts a queue with a fixed clock and work that ends when the test says so. */
function startQueue(options: Partial<FairQueueOptions> = {}) {
  let nowMs = 0;
  const queue = createFairQueue({ ...OPTIONS, ...options }, () => nowMs);
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  return {
    queue,
    begun,
    add(piece: string | Piece | ResourcePiece, name: string) {
      return queue.run(typeof piece === "string" ? { owner: piece } : piece, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    },
    /** Ends the work that began first, after it took this long. */
    async endNext(tookMs = 1) {
      nowMs += tookMs;
      ends.shift()?.();
      await nextTurn();
    },
  };
}

test("runs an owner that used no time before one that used some and has more waiting", async () => {
  const { add, begun, endNext } = startQueue();
  for (const name of ["a1", "a2", "a3"]) void add("a", name);
  void add("b", "b1");
  await nextTurn();
  for (let at = 0; at < 4; at++) await endNext();
  expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
});

test("frees the place of work that fails and rejects its promise", async () => {
  const { queue } = startQueue();
  await expect(queue.run({ owner: "a" }, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(queue.run({ owner: "a" }, async () => "yes")).resolves.toBe("yes");
});

test("limits the concurrent work per owner and leaves the other places to other owners", async () => {
  const { add, begun, endNext } = startQueue({ atOnce: 3, atOncePerOwner: 1 });
  for (const name of ["a1", "a2"]) void add("a", name);
  void add("b", "b1");
  await nextTurn();
  expect(begun).toEqual(["a1", "b1"]);
  await endNext();
  expect(begun).toEqual(["a1", "b1", "a2"]);
});

test("runs one item per resource at a time and lets work for other resources pass", async () => {
  const { add, begun, endNext } = startQueue({ atOnce: 3 });
  void add(on("a", "thread", 5), "a on thread");
  void add(on("b", "thread", 5), "b on thread");
  void add(on("c", "image", 5), "c on image");
  await nextTurn();
  expect(begun).toEqual(["a on thread", "c on image"]);
  await endNext();
  expect(begun).toEqual(["a on thread", "c on image", "b on thread"]);
});

test("rejects too much work of one owner and accepts work of other owners", async () => {
  const { add } = startQueue({ waitingPerOwner: 2 });
  for (const name of ["a1", "a2", "a3"]) void add("a", name);
  await expect(add("a", "a4")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED", retryAfterSeconds: 2 });
  const other = add("b", "b1");
  await expect(Promise.race([other, nextTurn()])).resolves.toBeUndefined();
});

test("applies the limits of a resource per owner", async () => {
  const { add } = startQueue();
  const thread = { owner: "a", resource: "thread", waitingPerOwner: 1, waiting: 5 };
  for (const name of ["a1", "a2"]) void add(thread, name);
  await expect(add(thread, "a3")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
});

test("drops the newest item of the owner with the longest line when the queue is full", async () => {
  const { add, begun, endNext } = startQueue({ waiting: 4 });
  void add("first", "first");
  await nextTurn();
  const greedy = ["a1", "a2", "a3"].map((name) => add("a", name));
  void add("b", "b1");
  void add("c", "c1");
  await expect(greedy[2]).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  for (let at = 0; at < 5; at++) await endNext();
  expect(begun).toEqual(["first", "a1", "b1", "c1", "a2"]);
});

test("rejects the owner with the longest line for a full resource, not one waiting elsewhere", async () => {
  const { add } = startQueue({ atOnce: 2 });
  void add(on("first", "image", 2), "first");
  void add("other", "running");
  await nextTurn();
  const plain = ["p1", "p2", "p3"].map((name) => add("plain", name));
  const images = [add(on("a", "image", 2), "a1"), add(on("a", "image", 2), "a2")];
  void add(on("b", "image", 2), "b1");
  await expect(images[1]).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  await expect(Promise.race([...plain, images[0], nextTurn()])).resolves.toBeUndefined();
});

test("forgets used time at a tenth of the speed of the clock", () => {
  let nowMs = 0;
  const queue = createFairQueue(OPTIONS, () => nowMs);
  queue.charge("a", 100);
  nowMs = 500;
  expect(queue.usedMs("a")).toBe(50);
  queue.charge("a", 10);
  expect(queue.usedMs("a")).toBe(60);
  nowMs = 2_000;
  expect(queue.usedMs("a")).toBe(0);
  expect(queue.usedMs("b")).toBe(0);
});

test("pauses a heavy owner for three times the time of its work while others run", async () => {
  const { queue, add, begun, endNext } = startQueue({ rests: true, atOncePerOwner: 1 });
  queue.charge("a", 500);
  for (const name of ["a1", "a2"]) void add("a", name);
  await nextTurn();
  const beganAtMs = performance.now();
  await endNext(50);
  void add("b", "b1");
  await nextTurn();
  expect(begun).toEqual(["a1", "b1"]);
  await endNext();
  await expect.poll(() => begun, { interval: 5 }).toEqual(["a1", "b1", "a2"]);
  // Timers may fire a millisecond early.
  expect(performance.now() - beganAtMs).toBeGreaterThanOrEqual(3 * 50 - 2);
});

test("does not pause an owner that used little time", async () => {
  const { add, begun, endNext } = startQueue({ rests: true, atOncePerOwner: 1 });
  for (const name of ["a1", "a2"]) void add("a", name);
  await nextTurn();
  await endNext(400);
  expect(begun).toEqual(["a1", "a2"]);
});

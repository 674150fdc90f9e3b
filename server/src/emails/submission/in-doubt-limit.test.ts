import { expect, test } from "vitest";
import { createInDoubtLimit } from "./in-doubt-limit.ts";

/** Returns the names that hold a place once all microtasks have run. */
async function entered(entering: ReadonlyMap<string, Promise<void>>): Promise<string[]> {
  const inside: string[] = [];
  for (const [name, place] of entering) void place.then(() => inside.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  return inside;
}

test("grants places up to the limit, queues the rest in order and gives a name one place", async () => {
  const inDoubtLimit = createInDoubtLimit(2);
  const names = ["a", "b", "c", "d"];
  const entering = new Map(names.map((name) => [name, inDoubtLimit.take(name)]));
  await inDoubtLimit.take("a");
  expect(await entered(entering)).toEqual(["a", "b"]);
  inDoubtLimit.free("b");
  expect(await entered(entering)).toEqual(["a", "b", "c"]);
  inDoubtLimit.free("b");
  expect(await entered(entering)).toEqual(["a", "b", "c"]);
});

test("keeps others waiting when a place is taken back until it is free again", async () => {
  const inDoubtLimit = createInDoubtLimit(1);
  await inDoubtLimit.take("a");
  const entering = new Map([
    ["b", inDoubtLimit.take("b")],
    ["c", inDoubtLimit.take("c")],
  ]);
  inDoubtLimit.free("a");
  expect(await entered(entering)).toEqual(["b"]);
  inDoubtLimit.retake("a");
  inDoubtLimit.free("b");
  expect(await entered(entering)).toEqual(["b"]);
  inDoubtLimit.free("a");
  expect(await entered(entering)).toEqual(["b", "c"]);
});

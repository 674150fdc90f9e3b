import { expect, test } from "vitest";
import { createInDoubtLimit } from "./in-doubt-limit.ts";

/** Who has a place, as far as microtasks tell. */
async function entered(entering: ReadonlyMap<string, Promise<void>>): Promise<string[]> {
  const inside: string[] = [];
  for (const [name, place] of entering) void place.then(() => inside.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  return inside;
}

test("as many as there are places enter, the others in the order they came, and a name has one place", async () => {
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

test("a place that is taken back keeps the others out until it is free again", async () => {
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

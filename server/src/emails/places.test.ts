import { expect, test } from "vitest";
import { createPlaces } from "./places.ts";

/** Who has a place, as far as microtasks tell. */
async function entered(entering: ReadonlyMap<string, Promise<void>>): Promise<string[]> {
  const inside: string[] = [];
  for (const [name, place] of entering) void place.then(() => inside.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  return inside;
}

test("as many as there are places enter, the others in the order they came, and a name has one place", async () => {
  const places = createPlaces(2);
  const names = ["a", "b", "c", "d"];
  const entering = new Map(names.map((name) => [name, places.take(name)]));
  await places.take("a");
  expect(await entered(entering)).toEqual(["a", "b"]);
  places.free("b");
  expect(await entered(entering)).toEqual(["a", "b", "c"]);
  places.free("b");
  expect(await entered(entering)).toEqual(["a", "b", "c"]);
});

test("a place that is taken back keeps the others out until it is free again", async () => {
  const places = createPlaces(1);
  await places.take("a");
  const entering = new Map([
    ["b", places.take("b")],
    ["c", places.take("c")],
  ]);
  places.free("a");
  expect(await entered(entering)).toEqual(["b"]);
  places.retake("a");
  places.free("b");
  expect(await entered(entering)).toEqual(["b"]);
  places.free("a");
  expect(await entered(entering)).toEqual(["b", "c"]);
});

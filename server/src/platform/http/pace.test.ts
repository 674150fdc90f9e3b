// Pace: who waits for their own large requests, and who does not.
import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

const MEGABYTE = 1024 * 1024;

/** Work that has begun, by name, and ends when it is told to. */
function playWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    },
    end: (name: string) => ends.get(name)?.(),
  };
}

test("large bodies of one owner are read one at a time; small ones and those of others go at once", async () => {
  const pace = createPace();
  const { begun, work, end } = playWork();
  const follow = (owner: string, bodyBytes: number, name: string) =>
    pace.follow({ owner, bodyBytes, isList: false }, work(name));
  const first = follow("a", MEGABYTE, "a large");
  const second = follow("a", MEGABYTE, "a second");
  void follow("a", 100, "a small");
  void follow("b", MEGABYTE, "b large");
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun.toSorted()).toEqual(["a large", "a small", "b large"]);
  end("a large");
  await first;
  await expect.poll(() => begun).toContain("a second");
  end("a second");
  await second;
});

test("after a large answer the lists of its owner come one at a time, and nothing else of it", async () => {
  const pace = createPace();
  const { begun, work } = playWork();
  pace.note("a", MEGABYTE);
  for (const name of ["list", "second list"])
    void pace.follow({ owner: "a", bodyBytes: 0, isList: true }, work(name));
  void pace.follow({ owner: "a", bodyBytes: 100, isList: false }, work("call"));
  void pace.follow({ owner: "b", bodyBytes: 0, isList: true }, work("list of another"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun.toSorted()).toEqual(["call", "list", "list of another"]);
});

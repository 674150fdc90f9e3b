// Tests which requests wait for other large requests of their owner.
import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

const MEGABYTE = 1024 * 1024;

/** Records started work by name and ends it when the test says so. */
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

test("runs an owner's large bodies one at a time, and small or other owners' bodies immediately", async () => {
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

test("after a large response only the lists of its owner run one at a time", async () => {
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

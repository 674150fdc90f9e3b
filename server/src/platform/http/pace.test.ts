// Tests which requests wait for other large requests of their owner.
import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

const MEGABYTE = 1024 * 1024;

const onWait = () => () => undefined;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

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
    pace.follow({ owner, bodyBytes, isList: false, onWait }, work(name));
  const first = follow("a", MEGABYTE, "a large");
  const second = follow("a", MEGABYTE, "a second");
  void follow("a", 100, "a small");
  void follow("b", MEGABYTE, "b large");
  await nextTurn();
  expect(begun.toSorted()).toEqual(["a large", "a small", "b large"]);
  end("a large");
  await first;
  await expect.poll(() => begun).toContain("a second");
  end("a second");
  await second;
});

test("a large request reports that it waits, and that its turn has come", async () => {
  const pace = createPace();
  const seen: string[] = [];
  const follow = (bodyBytes: number, name: string) =>
    pace.follow(
      {
        owner: "a",
        bodyBytes,
        isList: false,
        onWait: () => {
          seen.push(`${name} waits`);
          return () => seen.push(`${name} begins`);
        },
      },
      async () => void seen.push(`${name} runs`),
    );
  await Promise.all([follow(MEGABYTE, "first"), follow(MEGABYTE, "second"), follow(100, "small")]);
  expect(seen.filter((one) => !one.startsWith("small"))).toEqual([
    "first waits",
    "second waits",
    "first begins",
    "first runs",
    "second begins",
    "second runs",
  ]);
  expect(seen).not.toContain("small waits");
});

test("after a large response only the lists of its owner run one at a time", async () => {
  const pace = createPace();
  const { begun, work } = playWork();
  pace.note("a", MEGABYTE);
  for (const name of ["list", "second list"])
    void pace.follow({ owner: "a", bodyBytes: 0, isList: true, onWait }, work(name));
  void pace.follow({ owner: "a", bodyBytes: 100, isList: false, onWait }, work("call"));
  void pace.follow({ owner: "b", bodyBytes: 0, isList: true, onWait }, work("list of another"));
  await nextTurn();
  expect(begun.toSorted()).toEqual(["call", "list", "list of another"]);
});

test("a heavy owner pauses after a large body only if others made requests recently", async () => {
  let nowMs = 0;
  const pace = createPace(() => nowMs);
  const { begun, work, end } = playWork();
  const large = (name: string) =>
    void pace.follow({ owner: "a", bodyBytes: MEGABYTE, isList: false, onWait }, work(name));
  const endAfter = async (name: string, tookMs: number) => {
    nowMs += tookMs;
    end(name);
    await nextTurn();
  };
  for (const name of ["first", "second", "third", "fourth"]) large(name);
  await nextTurn();
  await endAfter("first", 1_000);
  expect(begun).toEqual(["first", "second"]);
  void pace.follow({ owner: "b", bodyBytes: 0, isList: false, onWait }, async () => undefined);
  await endAfter("second", 10);
  expect(begun).toEqual(["first", "second"]);
  await expect.poll(() => begun, { interval: 5 }).toEqual(["first", "second", "third"]);
  // The other owner's request is too long ago now.
  await endAfter("third", 3_000);
  expect(begun).toEqual(["first", "second", "third", "fourth"]);
});

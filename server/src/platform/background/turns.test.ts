// Tests how long work on the serving thread takes turns and gives way to requests.
import { expect, onTestFinished, test, vi } from "vitest";
import { createTurns } from "./turns.ts";

const { next: nextTurn, rest, countRequest } = createTurns();

const immediate = () => new Promise((resolve) => setImmediate(resolve));

test("all long work takes turns, one per iteration of the event loop, in order", async () => {
  const log: string[] = [];
  const work = async (name: string) => {
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      log.push(name);
    }
  };
  const done = Promise.all(["a", "b", "c"].map(work));
  const counts: number[] = [];
  while (log.length < 9) {
    await immediate();
    counts.push(log.length);
  }
  await done;
  expect(log.join("")).toBe("abcabcabc");
  expect(Math.max(...counts.map((count, at) => count - (counts[at - 1] ?? 0)))).toBe(1);
});

test("rests three times as long as each turn, at most 50 ms, while another request is served", async () => {
  let nowMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const timeouts = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => void vi.restoreAllMocks());
  /** Takes turns of the given lengths. @returns the rests after them, in ms */
  const restsAfter = async (turnsMs: readonly number[], options?: { isInRequest: boolean }) => {
    timeouts.mockClear();
    await nextTurn(options);
    for (const turnMs of turnsMs) {
      nowMs += turnMs;
      await nextTurn(options);
    }
    // The last turn ends without work, so the next ones begin without a rest.
    await immediate();
    return timeouts.mock.calls.map(([, restMs]) => restMs);
  };
  const end = countRequest();
  onTestFinished(end);
  expect(await restsAfter([5, 7, 300])).toEqual([15, 21, 50]);
  // Its own request is no reason to rest.
  expect(await restsAfter([5, 300], { isInRequest: true })).toEqual([]);
  end();
  end();
  expect(await restsAfter([5, 300])).toEqual([]);
  const again = countRequest();
  onTestFinished(again);
  expect(await restsAfter([5])).toEqual([15]);
});

test("work elsewhere rests three times as long as it took, at most 250 ms, only while a request is served", async () => {
  const timeouts = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => void vi.restoreAllMocks());
  await rest(300);
  expect(timeouts).not.toHaveBeenCalled();
  onTestFinished(countRequest());
  await rest(5);
  await rest(300);
  expect(timeouts.mock.calls.map(([, restMs]) => restMs)).toEqual([15, 250]);
});

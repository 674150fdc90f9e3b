// Tests how long work on the serving thread takes turns and gives way to requests.
import { expect, onTestFinished, test } from "vitest";
import { createTurns } from "./turns.ts";

const { next: nextTurn, countRequest } = createTurns();

const immediate = () => new Promise((resolve) => setImmediate(resolve));

/** Blocks the thread, as a turn of long work does. */
function block(ms: number): void {
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs);
}

/** Takes turns of 2 ms. @returns the time between the first and the last, in ms */
async function takeTurns(count: number, options?: { isInRequest: boolean }): Promise<number> {
  await nextTurn(options);
  const beganAtMs = performance.now();
  for (let turn = 1; turn < count; turn++) {
    block(2);
    await nextTurn(options);
  }
  return performance.now() - beganAtMs;
}

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

test("rests three times as long as each turn while another request is served, and not otherwise", async () => {
  const end = countRequest();
  onTestFinished(end);
  expect(await takeTurns(11)).toBeGreaterThanOrEqual(10 * 2 * 4 - 10);
  const least = async (options?: { isInRequest: boolean }) =>
    Math.min(await takeTurns(11, options), await takeTurns(11, options), await takeTurns(11, options));
  // Its own request is no reason to rest.
  expect(await least({ isInRequest: true })).toBeLessThan(60);
  end();
  end();
  expect(await least()).toBeLessThan(60);
  const again = countRequest();
  onTestFinished(again);
  expect(await takeTurns(11)).toBeGreaterThanOrEqual(10 * 2 * 4 - 10);
});

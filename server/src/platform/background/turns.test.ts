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

/** Takes turns of 5 ms. @returns the time between the first and the last, in ms */
async function takeTurns(count: number, options?: { isInRequest: boolean }): Promise<number> {
  await nextTurn(options);
  const beganAtMs = performance.now();
  for (let turn = 1; turn < count; turn++) {
    block(5);
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

test("rests as long as each turn while another request is served, and not otherwise", async () => {
  const TURNS = 11;
  const restedMs = 80;
  const least = async (options?: { isInRequest: boolean }) => {
    let ms = Infinity;
    // A busy machine adds to single attempts.
    for (let tries = 0; tries < 5 && ms >= restedMs; tries++)
      ms = Math.min(ms, await takeTurns(TURNS, options));
    return ms;
  };
  const end = countRequest();
  onTestFinished(end);
  expect(await takeTurns(TURNS)).toBeGreaterThan(restedMs);
  // Its own request is no reason to rest.
  expect(await least({ isInRequest: true })).toBeLessThan(restedMs);
  end();
  end();
  expect(await least()).toBeLessThan(restedMs);
  const again = countRequest();
  onTestFinished(again);
  expect(await takeTurns(TURNS)).toBeGreaterThan(restedMs);
});

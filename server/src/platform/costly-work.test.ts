// The budget of costly work: what lines of different kinds share, and who has to rest.
import { expect, test } from "vitest";
import { createBudget } from "./costly-work.ts";
import { createTurns } from "./turns.ts";

const LINE = { atOnce: 4, waitingPerOwner: 10, waiting: 20 };

const busy = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 200);
  });

test("work of several kinds is done one after the other, and an owner has one piece of it in progress", async () => {
  const budget = createBudget(2);
  const lines = [createTurns({ ...LINE, budget }), createTurns({ ...LINE, budget })];
  const running: string[] = [];
  const seen: string[][] = [];
  const take = (line: number, owner: string) =>
    lines[line]?.take(owner, async () => {
      running.push(owner);
      seen.push([...running]);
      await new Promise((resolve) => setImmediate(resolve));
      running.splice(running.indexOf(owner), 1);
    });
  await Promise.all([take(0, "a"), take(1, "a"), take(0, "b"), take(1, "c"), take(1, "d")]);
  expect(seen).toHaveLength(5);
  expect(Math.max(...seen.map((together) => together.length))).toBe(2);
  expect(seen.every((together) => new Set(together).size === together.length)).toBe(true);
});

test("whoever took much lately rests after each piece, in every line, and others do not", () => {
  const budget = createBudget(1);
  const done = (owner: string, tookMs: number) => {
    budget.begin(owner);
    budget.end(owner, tookMs);
  };
  done("modest", 400);
  expect(budget.mayBegin("modest")).toBe(true);
  done("greedy", 400);
  done("greedy", 200);
  expect(budget.mayBegin("greedy")).toBe(false);
  expect(budget.mayBegin("modest")).toBe(true);
});

test("a line whose owners all rest goes on when the rest is over", async () => {
  const turns = createTurns({ ...LINE, budget: createBudget(1) });
  for (let at = 0; at < 3; at++) await turns.take("a", busy);
  const endedAtMs = performance.now();
  await turns.take("a", busy);
  expect(performance.now() - endedAtMs).toBeGreaterThan(3 * 200);
});

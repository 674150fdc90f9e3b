// Returns of moved executions, in states that the engine leaves only between two of its transactions.
import { expect, test } from "vitest";
import { graphOf } from "../../testing/workflow-fixture.ts";
import { walkable } from "./execution.ts";
import { planReturn } from "./move-rules.ts";

const { steps, transitions } = graphOf({
  steps: [
    ["trigger", "TRIGGER"],
    ["rest", "DELAY", { amount: 1, unit: "days" }],
    ["end", "EXIT", {}],
  ],
  links: [
    ["trigger", "rest"],
    ["rest", "end"],
  ],
});
const graph = walkable({ steps, transitions });
const [, rest, end] = steps.map(({ id }) => id);
const move = { id: "a move", at: 2, from: 1, to: 2, stepId: rest ?? "", runs: 2 };

test.each([
  ["returns an execution whose wait has not ended", rest, {}, rest],
  ["keeps an execution whose wait has ended before its next step begins", end, { end: 3 }, undefined],
])("%s", (_title, stepId, ended, expected) => {
  const moved = {
    id: "an execution",
    version: 2,
    status: "RUNNING",
    stepId: stepId ?? "",
    isHeld: false,
    trace: [
      { n: 0, at: 1, end: 1 },
      { n: 1, at: 1, until: 3, ...ended },
    ],
    moves: [move],
  };
  const returned = planReturn(moved, { id: "an undo", from: graph, to: graph, now: new Date(4) });
  expect(returned?.stepId).toBe(expected);
});

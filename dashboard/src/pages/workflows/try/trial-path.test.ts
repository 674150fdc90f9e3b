// The steps and ways that a trial went through.
import { expect, test } from "vitest";
import { planOf } from "../canvas/plan.ts";
import { pathOf } from "./trial-path.ts";

const step = (id: string, type: "TRIGGER" | "CONDITION" | "DELAY" | "EXIT") => ({ id, type, config: {} });
const transition = (fromStepId: string, toStepId: string, branch: "yes" | "no" | null = null) => ({
  id: `${fromStepId} to ${toStepId}`,
  fromStepId,
  toStepId,
  branch,
});
const run = (
  stepId: string,
  branch: "yes" | "no" | null = null,
  status: "COMPLETED" | "WAITING" = "COMPLETED",
) => ({
  stepId,
  branch,
  status,
});
const STEPS = [
  step("trigger", "TRIGGER"),
  step("condition", "CONDITION"),
  step("delay", "DELAY"),
  step("exit", "EXIT"),
];
const FIRST = transition("trigger", "condition");

test("a path includes the taken branch and the open way at its end", () => {
  const plan = planOf(STEPS, [
    FIRST,
    transition("condition", "delay", "yes"),
    transition("condition", "exit", "no"),
  ]);
  const path = pathOf([run("trigger"), run("condition", "yes"), run("delay")], plan);
  expect([...path.stepIds]).toEqual(["trigger", "condition", "delay"]);
  expect([...path.wayKeys]).toEqual(["trigger ", "condition yes", "delay "]);
});

test("a path ends at a step that waits", () => {
  const plan = planOf(STEPS, [FIRST, transition("condition", "delay", "yes")]);
  const path = pathOf([run("trigger"), run("condition", "yes"), run("delay", null, "WAITING")], plan);
  expect([...path.stepIds]).toEqual(["trigger", "condition", "delay"]);
  expect([...path.wayKeys]).toEqual(["trigger ", "condition yes"]);
});

test("a path follows the one way of a condition when both branches lead to the same step", () => {
  const plan = planOf(STEPS, [FIRST, transition("condition", "delay")]);
  const path = pathOf([run("trigger"), run("condition", "no"), run("delay")], plan);
  expect([...path.wayKeys]).toEqual(["trigger ", "condition ", "delay "]);
});

test("a path has no way out of an EXIT", () => {
  const plan = planOf(STEPS, [FIRST, transition("condition", "exit", "no")]);
  const path = pathOf([run("trigger"), run("condition", "no"), run("exit")], plan);
  expect([...path.wayKeys]).toEqual(["trigger ", "condition no"]);
});

// The path of an execution on the canvas, and the values that its steps could read.
import { expect, test } from "vitest";
import { planOf } from "../canvas/plan.ts";
import type { Execution } from "./execution-status.ts";
import { executionPath, inputOf, readValues, versionOf } from "./execution-path.ts";

const PLAN = planOf(
  [
    { id: "trigger", type: "TRIGGER", config: {} },
    { id: "check", type: "CONDITION", config: {} },
    { id: "call", type: "WEBHOOK", config: {} },
    { id: "exit", type: "EXIT", config: {} },
  ],
  [
    { id: "1", fromStepId: "trigger", toStepId: "check", branch: null },
    { id: "2", fromStepId: "check", toStepId: "call", branch: "yes" },
    { id: "3", fromStepId: "check", toStepId: "exit", branch: "no" },
    { id: "4", fromStepId: "call", toStepId: "exit", branch: null },
  ],
);
const passed = (stepId: string, branch: string | null = null) => ({
  stepId,
  branch,
  status: "COMPLETED" as const,
});
const failed = (stepId: string) => ({ stepId, branch: null, status: "FAILED" as const });

test("a path ends at the failed step, and continues after it if a person skipped it", () => {
  const runs = [passed("trigger"), passed("check", "yes"), failed("call")];
  expect([...executionPath(runs, PLAN).wayKeys]).toEqual(["trigger ", "check yes"]);
  const retried = executionPath([...runs, failed("call")], PLAN);
  expect([...retried.wayKeys]).toEqual(["trigger ", "check yes"]);
  const skipped = executionPath([...runs, passed("exit")], PLAN);
  expect([...skipped.wayKeys]).toEqual(["trigger ", "check yes", "call "]);
  expect([...skipped.stepIds]).toEqual(["trigger", "check", "call", "exit"]);
});

test("a path leaves a passed step only by its branch, also if a person moved the execution elsewhere", () => {
  const moved = executionPath([passed("trigger"), passed("check", "yes"), passed("exit")], PLAN);
  expect([...moved.wayKeys]).toEqual(["trigger ", "check yes"]);
});

test("a step reads the start and the results of the steps before it", () => {
  const steps = ["Trigger", "Ask", "Tell", "Ask again"].map((name) => ({ name }));
  const results = { Ask: { body: { code: "A1" } }, "Ask again": { body: {} } };
  const execution = { context: { plan: "pro" }, results, steps } as unknown as Execution;
  const input = inputOf(execution, 2);
  expect(input).toEqual({ event: { plan: "pro" }, steps: { Ask: results.Ask } });
  const config = {
    url: "https://example.com/{{steps.Ask.body.code}}",
    body: { plan: "{{workflow.plan}}", no: "{{event.toString}}" },
  };
  expect(readValues(config, input)).toEqual([
    ["steps.Ask.body.code", "A1"],
    ["workflow.plan", "pro"],
    ["event.toString", undefined],
  ]);
});

const at = (minute: number) => `2027-01-01T12:0${minute}:00.000Z`;

test("a run belongs to the version in which it ended", () => {
  const steps = [{ completedAt: at(1) }, { completedAt: at(5) }, { completedAt: null }];
  const move = { at: at(3), fromVersion: 1, toVersion: 2, isUndo: false, stepsBefore: 2 };
  const execution = { steps, moves: [move], version: 2 } as unknown as Execution;
  expect(steps.map((_run, place) => versionOf(execution, place))).toEqual([1, 2, 2]);
});

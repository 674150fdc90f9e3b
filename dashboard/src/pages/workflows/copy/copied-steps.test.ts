// Copied steps as text: what they contain, and which texts are read back.
import { expect, test } from "vitest";
import { copiedSteps } from "@postloft/contract/workflows/paste.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import { copyOf, readCopied, stepsFrom } from "./copied-steps.ts";

const TEMPLATE = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e01";
const SEGMENT = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e02";
const OTHER = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e03";

const step = (id: string, type: string, config: object, note: string | null = null) =>
  ({ id, type, name: id, config, note, position: { x: 1, y: 1 } }) as Step;
const way = (fromStepId: string, toStepId: string, branch: string | null = null) => ({
  fromStepId,
  toStepId,
  branch,
  priority: 0,
});
const workflow = {
  steps: [
    step("start", "TRIGGER", {}),
    step("if", "CONDITION", { field: `segment.${SEGMENT}`, operator: "memberOfSegment" }),
    step("mail", "SEND_EMAIL", { templateId: TEMPLATE }, "Why"),
    step("rest", "DELAY", { amount: 1, unit: "days" }),
  ],
  transitions: [way("start", "if"), way("if", "rest", "no"), way("if", "mail", "yes"), way("rest", "if")],
} as unknown as Workflow;
const names = {
  templates: new Map([
    [TEMPLATE, "Hello"],
    [OTHER, "Other"],
  ]),
  segments: [
    { id: SEGMENT, name: "Pros", slug: "pros" },
    { id: OTHER, name: "Other", slug: "other" },
  ],
};

test("copies a step with all steps after it, their transitions, and the names of what they use", () => {
  const copied = copyOf(stepsFrom(workflow, "if"), workflow.transitions, names);
  expect(copiedSteps.safeParse(copied).error).toBeUndefined();
  expect(copied.steps.map(({ key, name, note }) => [key, name, note])).toEqual([
    ["1", "if", undefined],
    ["2", "rest", undefined],
    ["3", "mail", "Why"],
  ]);
  expect(copied.transitions.map(({ from, to, branch }) => [from, to, branch])).toEqual([
    ["1", "2", "no"],
    ["1", "3", "yes"],
    ["2", "1", null],
  ]);
  expect(copied.templates).toEqual([{ id: TEMPLATE, name: "Hello" }]);
  expect(copied.segments).toEqual([{ id: SEGMENT, name: "Pros", slug: "pros" }]);
  expect(readCopied(JSON.stringify(copied))).toEqual(copied);
});

test.each([
  ["a text", "hello", null],
  ["JSON of another kind", "[1]", null],
  ["an empty value", "null", null],
  ["a workflow", '{ "format": "postloft.workflow", "formatVersion": 1, "steps": [] }', null],
  ["steps of a later version", '{ "format": "postloft.steps", "formatVersion": 2, "steps": [] }', "newer"],
])("reads %s as no steps", (_name, text, result) => expect(readCopied(text)).toBe(result));

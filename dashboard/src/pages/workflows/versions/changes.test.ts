// The differences between two versions of a workflow, in words.
import { expect, test, vi } from "vitest";
import type { Comparison, Words } from "./changes.ts";

vi.stubGlobal("localStorage", { getItem: () => null });
vi.stubGlobal("navigator", { languages: ["en-GB"] });
// Imported after the stubs, because texts are translated when their modules load. Another file of the same worker may have loaded them.
vi.resetModules();
const { settingChangesOf, stepChangesOf, wayChangesOf } = await import("./changes.ts");

const WORDS: Words = {
  names: {
    segments: new Map(),
    templates: new Map(),
    fields: { nameOf: (field) => field, typeOf: () => "string" },
  },
  workflow: { triggerType: "EVENT", triggerConfig: { eventName: "signed-up" } },
};
const NONE = { added: [], removed: [], changed: [] };
const SAME: Comparison = {
  version: 1,
  with: 2,
  steps: NONE,
  transitions: NONE,
  exitConditions: null,
  goal: null,
};
type Step = Comparison["steps"]["added"][number];

function step(id: string, type: Step["type"], config: object, more: Partial<Step> = {}): Step {
  const at = "2027-01-01T12:00:00.000Z";
  const own = { id, workflowId: "w", type, name: id, config: { ...config }, templateId: null };
  return { ...own, position: null, note: null, createdAt: at, updatedAt: at, ...more };
}

function changed(before: Step, after: Step, ...fields: string[]): Comparison {
  return { ...SAME, steps: { ...NONE, changed: [{ id: before.id, fields, before, after }] } };
}

const linesOf = (comparison: Comparison) => stepChangesOf(comparison, WORDS).map(({ lines }) => lines);

test("a changed step has its old and its new sentence, and a moved one has no change", () => {
  const [before, after] = [
    { amount: 3, unit: "days" },
    { amount: 5, unit: "days" },
  ];
  expect(linesOf(changed(step("Pause", "DELAY", before), step("Pause", "DELAY", after), "config"))).toEqual([
    [{ label: "Settings of the step", before: "Waits 3 days", after: "Waits 5 days" }],
  ]);
  const moved = step("Pause", "DELAY", before, { position: { x: 1, y: 1 } });
  expect(linesOf(changed(step("Pause", "DELAY", before), moved, "position"))).toEqual([]);
  const named = step("Pause", "DELAY", before, { name: "Wait", note: "For Ada" });
  expect(linesOf(changed(step("Pause", "DELAY", before), named, "name", "note"))).toEqual([
    [
      { label: "Name", before: "Pause", after: "Wait" },
      { label: "Note", before: null, after: "For Ada" },
    ],
  ]);
});

test("a changed webhook names each value, and hides a changed secret", () => {
  const url = "https://example.com/";
  const before = { url, method: "POST", headers: { Authorization: "••••" }, body: { plan: "free" } };
  const after = { url, method: "PUT", headers: { Authorization: "••••" } };
  expect(linesOf(changed(step("Call", "WEBHOOK", before), step("Call", "WEBHOOK", after), "config"))).toEqual(
    [
      [
        { label: "Method", before: "POST", after: "PUT" },
        { label: "Body: plan", before: "free", after: null },
      ],
    ],
  );
  const masked = changed(step("Call", "WEBHOOK", before), step("Call", "WEBHOOK", before), "config");
  expect(linesOf(masked)).toEqual([[{ label: "A stored secret changed", before: null, after: null }]]);
});

const branchFor = (name: string, value: string) => ({
  name,
  filter: { field: "data.plan", operator: "equals", value },
});

test("a changed branch names its filter and the new order", () => {
  const before = { branches: [branchFor("Pro", "pro"), branchFor("Team", "team")] };
  const after = { branches: [branchFor("Team", "team"), branchFor("Pro", "business")] };
  const [lines = []] = linesOf(
    changed(step("By plan", "BRANCH", before), step("By plan", "BRANCH", after), "config"),
  );
  expect(lines.map(({ label }) => label)).toEqual(["Branches", "Pro"]);
  expect(lines[0]).toMatchObject({ before: "Pro · Team", after: "Team · Pro" });
  expect(lines[1]?.before).toContain("“pro”");
  expect(lines[1]?.after).toContain("“business”");
});

const transition = (id: string, fromStepId: string, toStepId: string, branch: string | null = null) => ({
  id,
  workflowId: "w",
  fromStepId,
  toStepId,
  branch,
  condition: null,
  waitOutcome: null,
  priority: 0,
});

test("a way names its old and its new target, except out of a removed step", () => {
  const steps = new Map(
    [step("On pro?", "CONDITION", {}), step("Mail", "DELAY", {}), step("Pause", "DELAY", {})].map((one) => [
      one.id,
      one,
    ]),
  );
  const transitions = {
    added: [transition("2", "On pro?", "Pause", "yes")],
    removed: [transition("1", "On pro?", "Mail", "yes"), transition("3", "Mail", "Pause")],
    changed: [],
  };
  expect(wayChangesOf({ ...SAME, transitions }, steps, (id) => id === "Mail")).toEqual([
    { label: "After “On pro?”, Yes", before: "Mail", after: "Pause" },
  ]);
});

test("changed exit conditions and goals are in words", () => {
  const exitConditions = { before: [], after: [{ type: "EVENT" as const, eventName: "purchase" }] };
  const goal = { before: { eventName: "invited", days: 7 }, after: null };
  expect(settingChangesOf({ ...SAME, exitConditions, goal }, WORDS.names)).toEqual([
    { label: "Exit conditions", before: null, after: "When “purchase” happens" },
    { label: "Goal", before: "“invited” within 7 days", after: null },
  ]);
});

// Random edits of random graphs. A graph accepted by `checkGraph` stays valid under every edit and survives an export.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Graph, GraphStep, StepType } from "@postloft/contract/workflows/graph.ts";
import { STEP_TYPES } from "@postloft/contract/workflows/graph.ts";
import { workflowExport } from "@postloft/contract/workflows/versions.ts";
import { exportOf, graphOfExport } from "./exchange-document.ts";
import { checkGraph } from "./graph-rules.ts";
import type { WorkflowRow } from "./queries.ts";
import {
  newestLeaf,
  spliced,
  usualBranchOf,
  withInsertedStep,
  withNewIds,
  withoutStep,
  withoutTransition,
  withStep,
  withTransition,
} from "./rules.ts";

const CONFIGS: Record<StepType, object> = {
  TRIGGER: {},
  SEND_EMAIL: {},
  DELAY: { amount: 1, unit: "days" },
  WAIT_FOR_EVENT: { eventName: "e" },
  CONDITION: { field: "data.a", operator: "exists" },
  BRANCH: {
    branches: [
      { name: "A", filter: { field: "data.a", operator: "exists" } },
      {
        name: "B",
        filter: { field: "segment.00000000-0000-7000-8000-0000000000a1", operator: "memberOfSegment" },
      },
    ],
  },
  RANDOM_SPLIT: {
    shares: [
      { name: "A", percent: 33.33 },
      { name: "B", percent: 66.67 },
    ],
  },
  UPDATE_CONTACT: { updates: { a: 1 } },
  WEBHOOK: { url: "https://example.com" },
  EXIT: {},
};
const AT = "2027-01-31T12:00:00.000Z";
let made = 0;
const newId = () => `00000000-0000-7000-8000-${String(++made).padStart(12, "0")}`;
const stepOf = (type: StepType) =>
  ({
    id: newId(),
    type,
    name: type,
    config: CONFIGS[type],
    position: null,
    createdAt: AT,
    updatedAt: AT,
  }) as GraphStep;
const begin = (): Graph => ({ steps: [stepOf("TRIGGER")], transitions: [] });

const type = fc.constantFrom(...STEP_TYPES.filter((one) => one !== "TRIGGER"));
const at = fc.nat(20);
const link = fc.record({
  do: fc.constant("link" as const),
  from: at,
  to: at,
  branch: fc.constantFrom(null, "yes", "no", "event", "timeout", "A", "B", "else"),
});
const edit = fc.oneof(
  fc.record({ do: fc.constant("add" as const), type, connect: fc.boolean() }),
  link,
  fc.record({ do: fc.constant("insert" as const), type, at }),
  fc.record({ do: fc.constant("delete" as const), at }),
  fc.record({ do: fc.constant("splice" as const), at }),
  fc.record({ do: fc.constant("unlink" as const), at }),
);
type Edit = typeof edit extends fc.Arbitrary<infer One> ? One : never;

function applied(graph: Graph, one: Edit): Graph | null {
  const { steps, transitions } = graph;
  const stepAt = (place: number) => steps[place % steps.length] as GraphStep;
  switch (one.do) {
    case "add": {
      const step = stepOf(one.type);
      const leaf = one.connect ? newestLeaf(graph) : null;
      const longer = withStep(graph, step);
      return leaf === null
        ? longer
        : withTransition(longer, {
            id: newId(),
            fromStepId: leaf.id,
            toStepId: step.id,
            branch: usualBranchOf(leaf),
            priority: 0,
          });
    }
    case "link": {
      const ends = { fromStepId: stepAt(one.from).id, toStepId: stepAt(one.to).id };
      return withTransition(graph, { id: newId(), ...ends, branch: one.branch, priority: 0 });
    }
    case "insert": {
      const transition = transitions[one.at % Math.max(1, transitions.length)];
      if (transition === undefined) return null;
      return withInsertedStep(graph, { transition, step: stepOf(one.type), newId: newId() });
    }
    case "delete":
      return withoutStep(graph, stepAt(one.at).id);
    case "splice":
      return spliced(graph, stepAt(one.at));
    case "unlink":
      return withoutTransition(graph, transitions[one.at % Math.max(1, transitions.length)]?.id ?? "");
  }
}

/** An independent implementation of `checkGraph` that follows every loop and looks for a resting step. */
function restlessLoop({ steps, transitions }: Graph): boolean {
  const rests = new Set(
    steps.filter((step) => step.type === "DELAY" || step.type === "WAIT_FOR_EVENT").map(({ id }) => id),
  );
  let left = steps.map(({ id }) => id).filter((id) => !rests.has(id));
  for (;;) {
    const ends = left.filter(
      (id) => !transitions.some((one) => one.fromStepId === id && left.includes(one.toStepId)),
    );
    if (ends.length === 0) return left.length > 0;
    left = left.filter((id) => !ends.includes(id));
  }
}

/** Edits as HTTP accepts them. Edits that `checkGraph` rejects change nothing. */
function grown(edits: readonly Edit[]): Graph {
  return edits.reduce((graph, one) => {
    const next = applied(graph, one);
    return next === null || checkGraph(next).length > 0 ? graph : next;
  }, begin());
}

test("keeps one TRIGGER, one transition per branch and a rest in each loop under random edits", () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 40 }), (edits) => {
      const graph = grown(edits);
      expect(checkGraph(graph)).toEqual([]);
      expect(graph.steps.filter((step) => step.type === "TRIGGER")).toHaveLength(1);
      const ways = graph.transitions.map(({ fromStepId, branch }) => `${fromStepId} ${branch}`);
      expect(new Set(ways).size).toBe(ways.length);
      expect(restlessLoop(graph)).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("rejects exactly the loops without a resting step", () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 40 }), fc.array(link, { maxLength: 6 }), (edits, wild) => {
      const graph = wild.reduce((so, one) => applied(so, one) ?? so, grown(edits));
      const faults = checkGraph(graph).map(({ message }) => message.includes("circles"));
      // Loops are not checked in graphs with other errors.
      fc.pre(faults.every((isLoop) => isLoop));
      expect(faults.length > 0).toBe(restlessLoop(graph));
    }),
    { numRuns: 200 },
  );
});

/** Returns whether an edit is valid in any graph, which is all except links, splices and edits of a wrong type. */
function isAlwaysSound(one: Edit, { steps }: Graph): boolean {
  if (one.do === "link" || one.do === "splice") return false;
  if (one.do === "insert") return one.type !== "EXIT";
  return one.do !== "delete" || steps[one.at % steps.length]?.type !== "TRIGGER";
}

test("rejects only links and splices when a valid graph is edited", () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 40 }), edit, (edits, last) => {
      const graph = grown(edits);
      fc.pre(isAlwaysSound(last, graph));
      expect(checkGraph(applied(graph, last) ?? graph)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("keeps every graph through an export, and copies it under new ids", () => {
  const row = {
    name: "W",
    description: null,
    folder: null,
    tags: ["trial"],
    triggerType: "EVENT",
    triggerConfig: { eventName: "e" },
    allowReentry: false,
  } as unknown as WorkflowRow;
  const none = { templates: [], segments: [] };
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 40 }), (edits) => {
      const graph = grown(edits);
      const document = exportOf(row, graph, none);
      const read = workflowExport.parse(JSON.parse(JSON.stringify(document)));
      const back = graphOfExport(read, { newId, at: AT });
      const copy = withNewIds(graph, newId);
      for (const other of [back, copy]) {
        expect(checkGraph(other)).toEqual([]);
        expect(exportOf(row, other, none)).toEqual(document);
        const ids = [...graph.steps, ...graph.transitions].map(({ id }) => id);
        for (const { id } of [...other.steps, ...other.transitions]) expect(ids).not.toContain(id);
      }
    }),
    { numRuns: 200 },
  );
});

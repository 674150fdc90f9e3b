// Places graphs of steps: order, joins and loops of known graphs, and no overlap in any graph.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StepType } from "@postloft/contract/workflows/graph.ts";
import { layoutOf, STEP_HEIGHT, STEP_WIDTH } from "./layout.ts";
import { planWithNewStep } from "./new-step.ts";
import { planOf, type GraphStep, type GraphTransition, type Plan } from "./plan.ts";

/** Reads `C:yes>A` as a transition. The first step is the TRIGGER; C, W, M and S are steps with branches. */
function graphFrom(names: string, ...arrows: string[]) {
  const types: Partial<Record<string, StepType>> = {
    T: "TRIGGER",
    C: "CONDITION",
    W: "WAIT_FOR_EVENT",
    X: "EXIT",
    M: "BRANCH",
    S: "RANDOM_SPLIT",
  };
  const configs: Partial<Record<string, object>> = {
    M: { branches: [{ name: "one" }, { name: "two" }] },
    S: { shares: [{ name: "half" }, { name: "other half" }] },
  };
  const steps = [...names].map((id): GraphStep => ({
    id,
    type: types[id] ?? "DELAY",
    config: configs[id] ?? {},
  }));
  const transitions = arrows.map((arrow): GraphTransition => {
    const [from = "", toStepId = ""] = arrow.split(">");
    const [fromStepId = "", branch] = from.split(":");
    return { id: arrow, fromStepId, toStepId, branch: branch ?? null };
  });
  return { steps, transitions };
}

function planFrom(names: string, ...arrows: string[]): Plan {
  const { steps, transitions } = graphFrom(names, ...arrows);
  return planOf(steps, transitions);
}

/** Describes the ways of a plan as `from:branch kind to`. */
const waysOf = ({ ways }: Plan) =>
  [...ways.values()]
    .flat()
    .map(({ fromStepId, branch, kind, toStepId, isImplied }) =>
      [`${fromStepId}${branch === null ? "" : `:${branch}`}`, kind, toStepId, isImplied && "implied"]
        .filter(Boolean)
        .join(" "),
    );

test.each([
  ["a chain", planFrom("TAX", "T>A", "A>X"), ["T branch A", "A branch X"], {}],
  [
    "branches that join",
    planFrom("TCABD", "T>C", "C:yes>A", "C:no>B", "A>D", "B>D"),
    ["T branch C", "C:yes branch A", "C:no branch B", "A join D", "B join D", "D open"],
    { C: ["D"] },
  ],
  [
    "a branch that goes straight to the join",
    planFrom("TCAD", "T>C", "C:yes>A", "C:no>D", "A>D"),
    ["T branch C", "C:yes branch A", "C:no join D", "A join D", "D open"],
    { C: ["D"] },
  ],
  [
    "a loop",
    planFrom("TACB", "T>A", "A>C", "C:yes>B", "B>A"),
    ["T branch A", "A branch C", "C:yes branch B", "C:no open", "B loop A"],
    {},
  ],
  [
    "named branches that join",
    planFrom("TMASB", "T>M", "M:one>A", "M:else>S", "S:half>B", "S:other half>A"),
    [
      "T branch M",
      "M:one join A",
      "M:two open",
      "M:else branch S",
      "A open",
      "S:half branch B",
      "S:other half join A",
      "B open",
    ],
    { M: ["A"] },
  ],
  [
    "one transition for both branches of a wait",
    planFrom("TWA", "T>W", "W>A"),
    ["T branch W", "W branch A", "A open"],
    {},
  ],
  [
    "a start without a transition",
    planFrom("TAB", "A>B"),
    ["T branch A implied", "A branch B", "B open"],
    {},
  ],
  ["a step that nothing leads to", planFrom("TAB", "T>A"), ["T branch A", "A open", "B open"], {}],
])("orders %s", (_name, plan, ways, joins) => {
  expect(waysOf(plan)).toEqual(ways);
  expect(Object.fromEntries(plan.joins)).toEqual(joins);
});

test("places branches side by side, and the step where they join below both", () => {
  const { steps } = layoutOf(planFrom("TCABED", "T>C", "C:yes>A", "C:no>B", "B>E", "A>D", "E>D"));
  const at = Object.fromEntries(steps.map(({ id, x, y }) => [id, { x, y }]));
  expect(at["A"]?.y).toBe(at["B"]?.y);
  expect(at["A"]?.x).toBeLessThan(at["B"]?.x ?? 0);
  expect(at["D"]?.y).toBeGreaterThan(at["E"]?.y ?? Number.POSITIVE_INFINITY);
  expect(at["D"]?.x).toBe(at["C"]?.x);
});

/** Any graph that the API could return: up to six ways from each step, with loops and steps that nothing leads to. */
const anyGraph = fc
  .array(fc.array(fc.nat(60), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 30 })
  .map((drawn) => {
    const steps: GraphStep[] = [
      { id: "t", type: "TRIGGER", config: {} },
      ...drawn.map((ways, at): GraphStep => ({
        id: `s${at}`,
        type: ways.length > 1 ? "BRANCH" : "DELAY",
        config: { branches: ways.slice(1).map((_, number) => ({ name: `b${number}` })) },
      })),
    ];
    const transitions = drawn.flatMap((ways, at) =>
      ways.flatMap((to, number): GraphTransition[] => {
        const branch = ways.length === 1 ? null : number === 0 ? "else" : `b${number - 1}`;
        const ends = { fromStepId: `s${at}`, toStepId: `s${to}` };
        return to < drawn.length && to !== at ? [{ id: `${at} ${number}`, ...ends, branch }] : [];
      }),
    );
    return { steps, transitions };
  });

test("places every step of any graph once, and no two overlap", () => {
  fc.assert(
    fc.property(anyGraph, ({ steps, transitions }) => {
      const placed = layoutOf(planOf(steps, transitions)).steps;
      expect(placed.map(({ id }) => id).toSorted()).toEqual(steps.map(({ id }) => id).toSorted());
      const overlapping = placed.filter((one) =>
        placed.some(
          (other) =>
            one.id < other.id &&
            Math.abs(one.x - other.x) < STEP_WIDTH &&
            Math.abs(one.y - other.y) < STEP_HEIGHT,
        ),
      );
      expect(overlapping).toEqual([]);
    }),
  );
});

test.each([
  ["between two steps", ["TA", "T>A"], "T ", "DELAY", ["T branch new", "A open", "new branch A"]],
  [
    "at the end of a branch",
    ["TCA", "T>C", "C:yes>A"],
    "C no",
    "SEND_EMAIL",
    ["T branch C", "C:yes branch A", "C:no branch new", "A open", "new open"],
  ],
  [
    "before a join",
    ["TCA", "T>C", "C:yes>A", "C:no>A"],
    "C yes",
    "CONDITION",
    ["T branch C", "C:yes branch new", "C:no join A", "A open", "new join A"],
  ],
  ["as an exit", ["TA", "T>A"], "A ", "EXIT", ["T branch A", "A branch new"]],
] as const)("a step that is not saved yet has its place %s", (_name, [names, ...arrows], key, type, ways) => {
  const graph = graphFrom(names, ...arrows);
  const [way] = [...planOf(graph.steps, graph.transitions).ways.values()]
    .flat()
    .filter((one) => one.key === key);
  expect(waysOf(planWithNewStep(graph, { type, way: way! }))).toEqual(ways);
});

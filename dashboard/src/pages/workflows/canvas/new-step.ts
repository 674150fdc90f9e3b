// Plans the place of a step that is not saved yet, so that the canvas and the outline show where it will be. Pure.
import type { AddableType } from "../steps/step-kinds.ts";
import { planOf, type GraphStep, type GraphTransition, type Plan, type Way } from "./plan.ts";

/** The id of the step that is not saved yet. */
export const NEW_STEP = "new";

interface Graph {
  steps: readonly GraphStep[];
  transitions: readonly GraphTransition[];
}

/** Returns the plan with a new step in the way. Its own branches appear once it is saved. */
export function planWithNewStep({ steps, transitions }: Graph, added: { type: AddableType; way: Way }): Plan {
  const { transitionId, fromStepId, branch } = added.way;
  const type = added.type === "EXIT" ? added.type : "DELAY";
  const replaced = transitions.find(({ id }) => id === transitionId);
  const into = { id: `into ${NEW_STEP}`, fromStepId, toStepId: NEW_STEP, branch };
  const onward = replaced === undefined ? [] : [{ ...replaced, fromStepId: NEW_STEP, branch: null }];
  return planOf(
    [...steps, { id: NEW_STEP, type, config: {} }],
    [...transitions.filter((one) => one !== replaced), into, ...onward],
  );
}

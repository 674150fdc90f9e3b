// Finds the problems of exit conditions and goals. Pure.
import { canHappen } from "@postloft/contract/event-names.ts";
import { exitSegmentIds } from "@postloft/contract/workflows/exit-conditions.ts";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import type { Graph, GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { WorkflowProblem } from "@postloft/contract/workflows/problems.ts";
import { problem } from "./problems-of-executions.ts";
import { eventsCausedBy } from "./self-triggering.ts";

export function problemsOfExits(
  { exitConditions = [], goal, steps }: Graph,
  event: string | null,
  segments: { has(id: string): boolean },
  triggerId: string | null,
): WorkflowProblem[] {
  const names = exitConditions.flatMap((one) => (one.type === "EVENT" ? [one.eventName] : []));
  return [
    ...problemsOfGoal(goal, { event, steps, triggerId }),
    ...(event !== null && names.includes(event)
      ? [
          problem(
            "EXIT_ON_TRIGGER",
            "error",
            triggerId,
            `The event "${event}" starts the workflow and is also an exit condition. Choose another event for one of them.`,
          ),
        ]
      : []),
    ...names
      .filter((name) => !canHappen(name))
      .map((name) =>
        problem(
          "EVENT_NEVER_HAPPENS",
          "warning",
          triggerId,
          `The exit condition on "${name}" never holds because the name is reserved.`,
        ),
      ),
    ...exitSegmentIds(exitConditions)
      .filter((id) => !segments.has(id))
      .map((id) =>
        problem(
          "MISSING_SEGMENT",
          "warning",
          triggerId,
          `An exit condition uses a segment that doesn't exist (${id}), so it never holds.`,
        ),
      ),
  ];
}

function problemsOfGoal(
  goal: Goal | undefined,
  {
    event,
    steps,
    triggerId,
  }: { event: string | null; steps: readonly GraphStep[]; triggerId: string | null },
): WorkflowProblem[] {
  if (goal === undefined) return [];
  const { eventName } = goal;
  if (eventName === event)
    return [
      problem(
        "GOAL_ON_TRIGGER",
        "error",
        triggerId,
        `The event "${event}" starts the workflow and is also its goal. Choose another event for one of them.`,
      ),
    ];
  if (!canHappen(eventName))
    return [
      problem(
        "EVENT_NEVER_HAPPENS",
        "warning",
        triggerId,
        `The goal "${eventName}" is never reached because the name is reserved.`,
      ),
    ];
  const cause = steps.find((step) => eventsCausedBy([step], []).has(eventName));
  return cause === undefined
    ? []
    : [
        problem(
          "GOAL_BY_STEP",
          "warning",
          cause.id,
          `"${cause.name}" causes the goal "${eventName}", so the goal says nothing about the contact.`,
        ),
      ];
}

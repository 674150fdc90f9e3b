// Finds the problems of exit conditions. Pure.
import { canHappen } from "@postloft/contract/event-names.ts";
import { exitSegmentIds } from "@postloft/contract/workflows/exit-conditions.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { WorkflowProblem } from "@postloft/contract/workflows/problems.ts";
import { problem } from "./problems-of-executions.ts";

export function problemsOfExits(
  { exitConditions = [] }: Graph,
  event: string | null,
  segments: { has(id: string): boolean },
  triggerId: string | null,
): WorkflowProblem[] {
  const names = exitConditions.flatMap((one) => (one.type === "EVENT" ? [one.eventName] : []));
  return [
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

// Checks the exit conditions of a workflow when they are saved, and determines the events that can meet them.
import type { FieldError } from "@postloft/contract/errors.ts";
import { segmentEventName } from "@postloft/contract/event-names.ts";
import { causesOf } from "@postloft/contract/filters.ts";
import {
  contactFilterOf,
  exitEventNames,
  exitSegmentIds,
  type ExitCondition,
} from "@postloft/contract/workflows/exit-conditions.ts";
import { exitOfGoal, type Goal } from "@postloft/contract/workflows/goal.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { ANY_CHANGE } from "../reactions/reactions.ts";
import { findKnownSegments, lockSegments } from "./reference-queries.ts";
import { faultsIn, textsOfExit } from "./step-texts.ts";

/** Returns errors in the variables of exit conditions. */
export function faultsOfExits(conditions: readonly ExitCondition[]): FieldError[] {
  return conditions.flatMap((condition, at) => {
    const field = `exitConditions.${at}.filter`;
    return faultsIn(
      textsOfExit(condition).map(({ text }) => ({ field, text })),
      field,
    );
  });
}

/** Returns errors in the variables of a goal. */
export function faultsOfGoal(goal: Goal | undefined): FieldError[] {
  const texts = exitOfGoal(goal && { ...goal, exits: true }).flatMap(textsOfExit);
  return faultsIn(
    texts.map(({ text }) => ({ field: "goal.filter", text })),
    "goal.filter",
  );
}

/** Returns an error for each exit condition on a segment that doesn't exist. */
export function missingSegmentsOf(
  conditions: readonly ExitCondition[],
  isMissing: (id: string) => boolean,
  shown: (id: string) => string = (id) => id,
): FieldError[] {
  return conditions.flatMap((condition, at) =>
    exitSegmentIds([condition])
      .filter(isMissing)
      .map((id): FieldError => ({
        field: `exitConditions.${at}.${condition.type === "SEGMENT" ? "segmentId" : "filter"}`,
        code: "custom",
        ...withValues("Segment {id} not found.", { id: shown(id) }),
      })),
  );
}

/**
 * Checks the variables of exit conditions, and that their segments exist. Locks the segments until the end of the transaction.
 * @throws AppError VALIDATION_ERROR for `exitConditions.…`
 */
export async function checkExits(
  tx: Tx,
  projectId: string,
  conditions: readonly ExitCondition[],
): Promise<void> {
  const wanted = exitSegmentIds(conditions);
  const segments = wanted.length === 0 ? [] : await lockSegments(tx, projectId, wanted);
  const known = new Set(segments.map(({ id }) => id));
  const fields = [...faultsOfExits(conditions), ...missingSegmentsOf(conditions, (id) => !known.has(id))];
  if (fields.length > 0) throw new AppError("VALIDATION_ERROR", { fields });
}

/** Returns the names of the events that can meet an exit condition of a graph, and `*` if any change of the contact can. */
export async function readExitNames(database: Database, projectId: string, graph: Graph): Promise<string[]> {
  const exitConditions = [...(graph.exitConditions ?? []), ...exitOfGoal(graph.goal)];
  const filters = exitConditions.flatMap((one) => contactFilterOf(one) ?? []);
  const ids = exitSegmentIds(exitConditions);
  const segments = ids.length === 0 ? [] : await findKnownSegments(database, projectId, ids);
  // What moves a contact into or out of an untracked segment is not known here, so any change counts.
  const dependsOnContact = filters.some((one) => causesOf(one).contact || causesOf(one).segments.length > 0);
  return [
    ...exitEventNames(exitConditions),
    ...segments.flatMap(({ slug }) => [segmentEventName(slug, "entry"), segmentEventName(slug, "exit")]),
    ...(dependsOnContact ? [ANY_CHANGE] : []),
  ];
}

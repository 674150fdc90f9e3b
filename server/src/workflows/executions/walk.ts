// Advances many executions in rounds. In each round every execution takes one step, until it waits or ends. Facts are loaded and effects
// applied once per round, so that the next round sees the effects.
import { nextTurn } from "../../platform/background/turns.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ExecutionStatus } from "@postloft/contract/workflows/graph.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { createFiller, FillError } from "../../rendering/fill-text.ts";
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import { variablesOf } from "./execution-variables.ts";
import { openRun, stepOf, type Execution, type StepRun } from "./execution.ts";
import { exitReasonOf } from "./exit-conditions.ts";
import { shuffledAt } from "./shares.ts";
import { takeStep } from "./steps/steps.ts";
import type { Effect, Facts, StepResult } from "./steps/step.ts";

/** The environment of executions, either the database or a simulation. */
export interface ExecutionEnvironment {
  readonly now: Date;
  /** Loads the facts that the current steps of these executions need. */
  look(executions: readonly Execution[]): Promise<Facts>;
  /** Applies the effects of steps. */
  apply(effects: readonly Effect[]): Promise<void>;
}

/** How often executions entered and left a step, by outcome. */
export interface StepTally {
  entered: number;
  passed: number;
  skipped: number;
  failed: number;
  cancelled: number;
}

/** By workflow, then by step. */
export type Tally = Map<string, Map<string, StepTally>>;

/** After this many rounds the rest continues in the next transaction. */
export const MAX_ROUNDS = 50;
/** Yields to the event loop after this time, because steps may need much CPU time. */
const MOST_MS_AT_ONCE = 20;

const MOST_STEPS = LIMITS.executionSteps.value;
const TOO_MANY_STEPS = recordedReason("tooManySteps", { most: MOST_STEPS });
const CONTACT_DELETED = recordedReason("contactDeleted");
export const CANCELLED_WITH_ALL = recordedReason("cancelledWithAll");

/**
 * Advances executions as far as possible now, up to `maxRounds` steps.
 * @returns the step counts
 */
export async function walk(
  environment: ExecutionEnvironment,
  executions: readonly Execution[],
  maxRounds = MAX_ROUNDS,
): Promise<Tally> {
  const tally: Tally = new Map();
  let moving = [...executions];
  for (let round = 0; moving.length > 0 && round < maxRounds; round++) {
    const facts = await environment.look(moving);
    const effects: Effect[] = [];
    let sinceMs = performance.now();
    for (const execution of shuffledAt(moving, isAtSplit)) {
      effects.push(...move(execution, facts, environment.now, tally));
      if (performance.now() - sinceMs > MOST_MS_AT_ONCE) {
        await nextTurn();
        sinceMs = performance.now();
      }
    }
    if (effects.length > 0) await environment.apply(effects);
    moving = moving.filter(isMoving);
  }
  for (const execution of moving) execution.dueAt = environment.now;
  return tally;
}

/** Fails an execution at its current step, with the reason why the step could not run or be stored. */
export function failAt(execution: Execution, reason: string, now: Date, tally: Tally): void {
  const stepId = execution.stepId ?? "";
  const counts = countsOf(tally, execution.workflow.id, stepId);
  if (openRun(execution) === undefined) {
    execution.trace.push({ n: execution.graph.placeOf.get(stepId) ?? 0, at: now.getTime() });
    counts.entered++;
  }
  counts.failed++;
  const run = openRun(execution);
  if (run !== undefined) Object.assign(run, { is: "FAILED", error: reason });
  end(execution, "FAILED", now, reason);
}

/** Ends an execution that was cancelled before its next step. */
export function cancelAt(execution: Execution, reason: string, now: Date, tally: Tally): void {
  endEarly(execution, "CANCELLED", { reason, now, tally });
}

/** Ends an execution because of an exit condition. Its step, if it waits at one, counts as cancelled. */
export function exitAt(execution: Execution, reason: string, now: Date, tally: Tally): void {
  endEarly(execution, "EXITED", { reason, now, tally });
}

function endEarly(
  execution: Execution,
  status: "CANCELLED" | "EXITED",
  { reason, now, tally }: { reason: string; now: Date; tally: Tally },
): void {
  const run = openRun(execution);
  if (run !== undefined) {
    run.is = "CANCELLED";
    countsOf(tally, execution.workflow.id, execution.stepId ?? "").cancelled++;
  }
  end(execution, status, now, reason);
}

/** Contacts that arrive together are shuffled, because the order of arrival decides on their shares. */
const isAtSplit = (execution: Execution) => stepOf(execution)?.type === "RANDOM_SPLIT";

const isMoving = ({ status, dueAt, waitsFor }: Execution) =>
  status === "RUNNING" && dueAt === null && waitsFor === null;

/** Counts the steps since the start or the last failure. A person who resumed it after a failure may want the loop to continue. */
const stepsInARow = ({ trace }: Execution) =>
  trace.length - 1 - trace.findLastIndex(({ is }) => is === "FAILED");

/** Runs the current step of an execution. */
function move(execution: Execution, facts: Facts, now: Date, tally: Tally): Effect[] {
  execution.dueAt = null;
  execution.waitsFor = null;
  const step = stepOf(execution);
  const contact = execution.contactId === null ? undefined : facts.contacts.get(execution.contactId);
  if (step === undefined) return end(execution, "COMPLETED", now, null);
  if (contact !== undefined && leaves(execution, { contact, facts, now, tally })) return [];
  const known = openRun(execution);
  if (known === undefined && contact !== undefined && stepsInARow(execution) >= MOST_STEPS) {
    failAt(execution, TOO_MANY_STEPS, now, tally);
    return [];
  }
  const run: StepRun = known ?? { n: execution.graph.placeOf.get(step.id) ?? 0, at: now.getTime() };
  const counts = countsOf(tally, execution.workflow.id, step.id);
  if (known === undefined) {
    execution.trace.push(run);
    counts.entered++;
  }
  if (contact === undefined) {
    counts.cancelled++;
    run.is = "CANCELLED";
    return end(execution, "CANCELLED", now, CONTACT_DELETED);
  }
  const result = takeStep({
    now,
    step,
    execution,
    contact,
    run,
    isFresh: known === undefined,
    facts,
    filler: createFiller(() => variablesOf(execution, contact, facts.knownFields)),
  });
  settle(execution, run, counts, result, now);
  return "effect" in result && result.effect !== undefined ? [result.effect] : [];
}

/** Ends an execution if one of its exit conditions holds, or fails it if a condition can't be checked. */
function leaves(
  execution: Execution,
  { contact, facts, now, tally }: { contact: FilterContact; facts: Facts; now: Date; tally: Tally },
): boolean {
  if (execution.graph.exitConditions.length === 0) return false;
  const { segments, exitEvents, knownFields } = facts;
  // Not the filler of the step, because each has its own limits.
  const filler = createFiller(() => variablesOf(execution, contact, knownFields));
  const events = exitEvents.get(execution.id) ?? [];
  try {
    const reason = exitReasonOf(execution, { contact, segments, events, filler, now });
    if (reason !== null) exitAt(execution, reason, now, tally);
    return reason !== null;
  } catch (error) {
    if (!(error instanceof FillError)) throw error;
    failAt(execution, error.message, now, tally);
    return true;
  }
}

function settle(execution: Execution, run: StepRun, counts: StepTally, result: StepResult, now: Date): void {
  const step = stepOf(execution);
  switch (result.goes) {
    case "wait":
      execution.status = "WAITING";
      execution.dueAt = result.dueAt;
      execution.waitsFor = result.waitsFor ?? null;
      return;
    case "fail":
      counts.failed++;
      run.is = "FAILED";
      run.error = result.error;
      end(execution, "FAILED", now, result.error);
      return;
    case "exit":
      counts.passed++;
      end(execution, "EXITED", now, result.reason);
      return;
    case "skip":
      counts.skipped++;
      run.is = "SKIPPED";
      run.out = { reason: result.reason, ...(result.code === undefined ? {} : { code: result.code }) };
      return goOn(execution, run, null, now);
    case "on":
      counts.passed++;
      if (result.branch !== undefined) run.via = result.branch;
      if (result.out !== undefined) run.out = result.out;
      if (result.result !== undefined && step !== undefined)
        execution.results = { ...execution.results, [step.name]: result.result };
      return goOn(execution, run, result.branch ?? null, now);
  }
}

function goOn(execution: Execution, run: StepRun, branch: string | null, now: Date): void {
  const next = execution.graph.nextOf(execution.stepId ?? "", branch);
  if (next === null) return void end(execution, "COMPLETED", now, null);
  run.end = now.getTime();
  execution.status = "RUNNING";
  execution.stepId = next;
}

/** Ends an execution. A failed one keeps its step, so that it can be retried there. */
function end(execution: Execution, status: ExecutionStatus, now: Date, reason: string | null): Effect[] {
  const run = openRun(execution);
  if (run !== undefined) run.end = now.getTime();
  execution.status = status;
  execution.exitReason = reason;
  execution.dueAt = null;
  execution.waitsFor = null;
  if (status !== "FAILED") execution.stepId = null;
  return [];
}

function countsOf(tally: Tally, workflowId: string, stepId: string): StepTally {
  const steps = tally.get(workflowId) ?? new Map<string, StepTally>();
  tally.set(workflowId, steps);
  const counts = steps.get(stepId) ?? { entered: 0, passed: 0, skipped: 0, failed: 0, cancelled: 0 };
  steps.set(stepId, counts);
  return counts;
}

// An execution in memory, which is one contact in one version of a graph with the results of its steps.
import type { ExecutionStatus, Graph, GraphStep, StepType } from "@postloft/contract/workflows/graph.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { exitOfGoal, type Goal } from "@postloft/contract/workflows/goal.ts";
import type { EventPlace } from "../../events/arrived-events.ts";
import { firstStepOf } from "../graph-rules.ts";

/** The result of a webhook call, or null until it ends. */
export type WebhookResponse =
  /** `isCut`: the body is only the first 64 KB, as text. */
  | { is: "done"; status: number; body: unknown; isCut?: boolean }
  | { is: "failed"; error: string }
  /** It failed while the workflow was paused, and is made again. */
  | { is: "again" }
  | null;

/**
 * A step run in the trace of an execution. The names are short because every step of every execution is stored (stored-trace.ts). Times are
 * in ms since 1970.
 */
export interface StepRun {
  /** Index of the step in its version of the graph, or -1. */
  n: number;
  /** The step, if the execution has moved to a version without it. */
  step?: { id: string; name: string; type: StepType };
  at: number;
  /** Missing while the execution is at this step. */
  end?: number;
  /** Missing if completed. */
  is?: "SKIPPED" | "FAILED" | "CANCELLED";
  /** The branch that it took. */
  via?: string;
  /** End of a wait. */
  until?: number;
  /** The last event that the filter passed over, if there were many. */
  behind?: EventPlace;
  /** The output, or the reason for skipping. */
  out?: Readonly<Record<string, unknown>>;
  error?: string;
}

/** A move of an execution to another version, as stored. */
export interface Move {
  /** The job that moved it. */
  id: string;
  /** In ms since 1970. */
  at: number;
  from: number;
  to: number;
  /** The step before. */
  stepId: string;
  /** The number of runs in the trace after the move. */
  runs: number;
  /** Whether a person chose another step. */
  isJump?: true;
  isUndo?: true;
  /** The open run before the move, with the index of its own version, if the move changed it. Only in the newest move. */
  run?: StepRun;
}

/** An event that may end an execution. */
export interface NamedEvent {
  name: string;
  at: Date;
  data: Readonly<Record<string, unknown>>;
}

/** A version of a graph, indexed for execution. */
export interface WalkableGraph {
  steps: readonly GraphStep[];
  /** Index of each step by id. */
  placeOf: ReadonlyMap<string, number>;
  nextOf(stepId: string, branch: string | null): string | null;
  /** The first step of executions. */
  startStepId: string;
  /** Including the goal, if it also ends executions. */
  exitConditions: readonly ExitCondition[];
  goal: Goal | undefined;
}

export interface Execution {
  projectId: string;
  id: string;
  workflow: { id: string; name: string };
  /** The event that starts its workflow, or null. */
  triggerEvent: string | null;
  version: number;
  graph: WalkableGraph;
  /** Null if the contact was deleted. */
  contactId: string | null;
  /** Whether an event caused by a call with a public key started it, or ended one of its waits. */
  fromPublicKey: boolean;
  status: ExecutionStatus;
  stepId: string | null;
  dueAt: Date | null;
  waitsFor: string | null;
  context: Readonly<Record<string, unknown>>;
  /** Results of steps for later steps, by step name. */
  results: Readonly<Record<string, unknown>>;
  /** The response of the webhook it waits for. */
  answer: WebhookResponse;
  trace: StepRun[];
  moves: readonly Move[];
  exitReason: string | null;
  startedAt: Date;
}

/** Returns the run of the current step. */
export function openRun({ trace }: Execution): StepRun | undefined {
  const last = trace.at(-1);
  return last?.end === undefined ? last : undefined;
}

/** Returns the branch that a step run took, or undefined. */
export function takenBranch(run: StepRun | undefined): string | undefined {
  return run?.via;
}

/** Returns whether an execution has taken no step since it was last moved. */
export function isJustMoved({ trace, moves }: Execution): boolean {
  return trace.length === moves.at(-1)?.runs;
}

/** Returns whether the current SEND_EMAIL step sent its email before a person moved the execution to another step, and not since. */
export function isRepeatedByMove({ trace, moves }: Execution, { n }: StepRun): boolean {
  const { runs = 0 } = moves.findLast(({ isJump }) => isJump) ?? {};
  const didSend = (run: StepRun) => run.n === n && run.out?.["emailId"] !== undefined;
  const isOfStep = (run: StepRun) => run.n === n;
  return trace.slice(0, runs).some(didSend) && !trace.slice(runs, -1).some(isOfStep);
}

/** Returns the response of the webhook that an execution waits for. */
export function responseOf({ answer }: Execution): WebhookResponse {
  return answer;
}

export function stepOf({ graph, stepId }: Execution): GraphStep | undefined {
  return stepId === null ? undefined : graph.steps[graph.placeOf.get(stepId) ?? -1];
}

/** Returns what conditions can read of an execution in addition to the contact. */
export function carriedBy({ context, results }: Pick<Execution, "context" | "results">) {
  return { event: context, workflow: context, steps: results };
}

export function walkable({ steps, transitions, exitConditions = [], goal }: Graph): WalkableGraph {
  const placeOf = new Map(steps.map((step, place) => [step.id, place]));
  const ways = transitions.toSorted((one, other) => one.priority - other.priority);
  const trigger = steps.find(({ type }) => type === "TRIGGER");
  // Clients that do not know TRIGGER steps never link from them (decisions §9).
  const isDrawn = transitions.some(({ fromStepId }) => fromStepId === trigger?.id);
  const start = (isDrawn ? trigger : firstStepOf({ steps, transitions })) ?? trigger ?? steps[0];
  if (start === undefined) throw new Error("A graph has no steps.");
  return {
    steps,
    placeOf,
    startStepId: start.id,
    exitConditions: [...exitConditions, ...exitOfGoal(goal)],
    goal,
    nextOf(stepId, branch) {
      const own = ways.filter(({ fromStepId }) => fromStepId === stepId);
      const way = own.find((one) => one.branch === branch) ?? own.find((one) => one.branch === null);
      return way?.toStepId ?? null;
    },
  };
}

const PAUSES: ReadonlySet<StepType> = new Set(["DELAY", "WAIT_FOR_EVENT"]);

/**
 * Returns when a DELAY that an execution reaches now begins. It counts from the entry if no earlier step took time, because the contact may
 * have entered while no worker ran or the workflow was paused.
 */
export function delayStart({ trace, graph, startedAt }: Execution, now: Date): Date {
  const tookTime = ({ n, is, step }: StepRun) => {
    const type = (graph.steps[n] ?? step)?.type ?? "TRIGGER";
    return is === "FAILED" || type === "WEBHOOK" || PAUSES.has(type);
  };
  return trace.slice(0, -1).some(tookTime) || startedAt > now ? now : startedAt;
}

/**
 * Returns the time in ms from which events count for the current wait.
 * This is the end of the previous DELAY or wait, or else the start of the execution. Time spent in a failed state does not count. An event
 * that started the execution or ended a wait cannot end another one. Other events with the same timestamp can, because one statement stores
 * many.
 */
export function waitStart(execution: Execution): number {
  const { trace, graph, startedAt, triggerEvent } = execution;
  const runs = trace.slice(0, -1);
  const stepAt = ({ n }: StepRun) => graph.steps[n];
  const awaited = awaitedName(stepOf(execution));
  const nameOf = (run: StepRun) => run.out?.["eventName"] ?? awaitedName(stepAt(run));
  const used = runs.flatMap((run) => (nameOf(run) === awaited ? (endedBy(run) ?? []) : []));
  const lastUsed = used.at(-1) ?? (triggerEvent === awaited ? startedAt : null);
  return Math.max(lastUsed === null ? -Infinity : behindMs(lastUsed), overMs());

  function overMs(): number {
    const pause = runs.findLast(
      (run) => run.is !== "FAILED" && PAUSES.has((stepAt(run) ?? run.step)?.type ?? "TRIGGER"),
    );
    if (pause === undefined) return startedAt.getTime();
    return endedBy(pause)?.getTime() ?? pause.until ?? pause.at;
  }
}

const awaitedName = (step: GraphStep | undefined) =>
  step?.type === "WAIT_FOR_EVENT" ? step.config.eventName : null;

/** Returns when the event that ended a wait happened, or null. */
export function endedBy({ via, out }: StepRun): Date | null {
  const at = via === "event" ? out?.["at"] : undefined;
  return typeof at === "string" ? new Date(at) : null;
}

/** Returns the first ms after a time with ms precision. */
const behindMs = (instant: Date) => instant.getTime() + 1;

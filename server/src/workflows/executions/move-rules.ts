// Decides how an execution moves to another version of its workflow, and back (docs/decisions/0140-moves-to-another-version.md). Pure.
import { isDeepStrictEqual } from "node:util";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { LEFT_OUT, MOVE_CHANGES } from "@postloft/contract/workflows/moves.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Move, StepRun, WalkableGraph } from "./execution.ts";
import { movedRun } from "./moved-trace.ts";

/** A step id, `stay` or `exit`, by the id of the step before. */
export type Choices = Readonly<Record<string, string>>;

/** An active execution, as it is stored. */
export interface Standing {
  id: string;
  version: number;
  stepId: string;
  isHeld: boolean;
  trace: readonly StepRun[];
  moves: readonly Move[];
}

export interface MoveTo {
  /** The job that moves it. */
  id: string;
  version: number;
  from: WalkableGraph;
  to: WalkableGraph;
  choices: Choices;
  applyDelays: boolean;
  now: Date;
}

/** The state of an execution after a move. */
export interface Moved {
  id: string;
  version: number;
  /** Null if it ended. */
  stepId: string | null;
  trace: StepRun[];
  moves: Move[];
  /** The step that it left, and how its run ended. */
  left: { stepId: string; is: "SKIPPED" | "CANCELLED" } | null;
}

export type LeftOut = (typeof LEFT_OUT)[number];

/** Moves of an execution that are kept. */
const MOST_MOVES = 50;
const JUMPED = recordedReason("executionMoved");

/** Returns the state of an execution after the move, or why it keeps its version. */
export function planMove(standing: Standing, move: MoveTo): Moved | LeftOut {
  const { trace, stepId } = standing;
  if (standing.isHeld) return "HELD";
  const target = targetOf(move.from, move.to, stepId);
  const choice = move.choices[stepId] ?? target?.id;
  if (choice === undefined) return "NO_CHOICE";
  if (choice === "stay") return "STAY";
  const open = openRunOf(trace);
  const step = stepOf(move.from, stepId);
  const moved = trace.map((run) => movedRun(run, move.from, move.to));
  if (target !== undefined && step !== undefined && choice === target.id) {
    if (open === undefined) return movedTo(standing, move, { stepId, trace: moved });
    const run = adjusted(open, step, target, move.applyDelays);
    if (run === null) return movedTo(standing, move, { stepId, trace: moved });
    const last = movedRun(run, move.from, move.to);
    return movedTo(standing, move, { stepId, trace: [...moved.slice(0, -1), last], run: open });
  }
  if (open !== undefined && step?.type === "WEBHOOK") return "WEBHOOK";
  const isEnd = choice === "exit";
  const is = isEnd ? ("CANCELLED" as const) : ("SKIPPED" as const);
  const next = { stepId: isEnd ? null : choice, isJump: true as const };
  if (open === undefined) return movedTo(standing, move, { ...next, trace: moved });
  const out = isEnd ? {} : { out: { reason: JUMPED } };
  const closed = { ...movedRun(open, move.from, move.to), ...out, is, end: move.now.getTime() };
  return movedTo(standing, move, {
    ...next,
    trace: [...moved.slice(0, -1), closed],
    run: open,
    left: { stepId, is },
  });
}

function movedTo(
  { id, version, stepId: before, moves }: Standing,
  { id: jobId, now, version: to }: MoveTo,
  {
    stepId,
    trace,
    run,
    isJump,
    left = null,
  }: Pick<Moved, "stepId" | "trace"> & Pick<Move, "run" | "isJump"> & { left?: Moved["left"] },
): Moved {
  const move: Move = {
    id: jobId,
    at: now.getTime(),
    from: version,
    to,
    stepId: before,
    runs: trace.length,
    ...(isJump && { isJump }),
    ...(run && { run }),
  };
  return { id, version: to, stepId, trace, moves: withMove(moves, move), left };
}

function withMove(moves: readonly Move[], move: Move): Move[] {
  return [...moves.map(({ run: _run, ...rest }) => rest), move].slice(-MOST_MOVES);
}

/** A moved execution, as it is stored now. Without a step if it ended. */
export type MovedStanding = Omit<Standing, "stepId"> & { stepId: string | null; status: string };

/** Returns the state of an execution before its last move, or null if it has taken a step since. */
export function planReturn(
  { id, version, status, trace, moves, isHeld, ...standing }: MovedStanding,
  { id: jobId, from, to, now }: Pick<MoveTo, "id" | "from" | "to" | "now">,
): Moved | null {
  const last = moves.at(-1);
  if (last === undefined || isHeld || trace.length !== last.runs) return null;
  const { run, isJump = false, stepId } = last;
  const isEnded = isJump && status === "EXITED";
  if (!isEnded && status !== "RUNNING" && status !== "WAITING") return null;
  // An execution that kept its step must still be there.
  if (!isJump && standing.stepId !== stepId) return null;
  const returned = trace.map((one) => movedRun(one, from, to));
  const restored = run === undefined ? returned : [...returned.slice(0, -1), run];
  const isLeft = isJump && run !== undefined;
  const { isJump: _isJump, ...before } = last;
  const move: Move = {
    id: jobId,
    at: now.getTime(),
    from: version,
    to: last.from,
    stepId,
    runs: restored.length,
    isUndo: true,
  };
  return {
    id,
    version: last.from,
    stepId,
    trace: restored,
    moves: withMove([...moves.slice(0, -1), before], move),
    left: isLeft ? { stepId, is: isEnded ? "CANCELLED" : "SKIPPED" } : null,
  };
}

const stepOf = (graph: WalkableGraph, id: string): GraphStep | undefined =>
  graph.steps[graph.placeOf.get(id) ?? -1];

/** Returns the same step in another version. */
export function targetOf(from: WalkableGraph, to: WalkableGraph, stepId: string): GraphStep | undefined {
  const [before, target] = [stepOf(from, stepId), stepOf(to, stepId)];
  return before !== undefined && before.type === target?.type ? target : undefined;
}

function openRunOf(trace: readonly StepRun[]): StepRun | undefined {
  const last = trace.at(-1);
  return last?.end === undefined ? last : undefined;
}

/** Returns the differences of a step between two versions that matter to an execution at it. */
export function changesOf(before: GraphStep, after: GraphStep): Array<(typeof MOVE_CHANGES)[number]> {
  if (isDeepStrictEqual(before.config, after.config)) return [];
  if (before.type === "DELAY") return ["delay"];
  if (before.type !== "WAIT_FOR_EVENT" || after.type !== "WAIT_FOR_EVENT") return ["config"];
  const isSameEvent =
    before.config.eventName === after.config.eventName &&
    isDeepStrictEqual(before.config.filter, after.config.filter);
  return [
    ...(isSameEvent ? [] : (["event"] as const)),
    ...(before.config.timeout === after.config.timeout ? [] : (["delay"] as const)),
  ];
}

/** Returns an open run for the changed step, or null if it stays the same. */
function adjusted(run: StepRun, before: GraphStep, after: GraphStep, applyDelays: boolean): StepRun | null {
  const changes = changesOf(before, after);
  const isDelay = changes.includes("delay") && applyDelays;
  const isEvent = changes.includes("event");
  if (!isDelay && !isEvent) return null;
  const { until, out, behind, ...rest } = run;
  // The engine calculates the end of a DELAY that has none, from when it began.
  if (after.type !== "WAIT_FOR_EVENT") return rest;
  const { timeout } = after.config;
  const end = isDelay ? (timeout === undefined ? undefined : run.at + timeout * 1_000) : until;
  return {
    ...rest,
    ...(end === undefined ? {} : { until: end }),
    ...(isEvent || out === undefined ? {} : { out }),
    ...(isEvent || behind === undefined ? {} : { behind }),
  };
}

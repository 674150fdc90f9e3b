// An execution in memory: one contact on its way through one version of a graph, and what its steps did so far.
import type {
  Branch,
  ExecutionStatus,
  Graph,
  GraphStep,
  StepType,
} from "@postloft/contract/workflows/graph.ts";
import type { EventPlace } from "../../events/arrived-events.ts";
import { firstStepOf } from "../graph-rules.ts";

/** How a call of a webhook stands; null before it ended. */
export type WebhookAnswer =
  | { is: "done"; status: number; body: unknown }
  | { is: "failed"; error: string }
  | null;

/**
 * A step run in the trace of an execution: short names, since one is stored for each step of each execution (stored-trace.ts). Instants are ms since 1970.
 */
export interface StepRun {
  /** The place of the step in its version of the graph. */
  n: number;
  at: number;
  /** null while the execution stands here. */
  end?: number;
  /** Left out: it was done. */
  is?: "SKIPPED" | "FAILED" | "CANCELLED";
  via?: Branch;
  /** Until when it waits. */
  until?: number;
  /** The event up to which its filter passed over all that happened, where that was much. */
  behind?: EventPlace;
  /** What came out, or why it was skipped. */
  out?: Readonly<Record<string, unknown>>;
  error?: string;
}

/** A version of a graph, made fit to be walked. */
export interface WalkableGraph {
  steps: readonly GraphStep[];
  /** The place of each step by its id. */
  placeOf: ReadonlyMap<string, number>;
  nextOf(stepId: string, branch: Branch | null): string | null;
  /** Where executions start. */
  startStepId: string;
}

export interface Execution {
  projectId: string;
  id: string;
  workflow: { id: string; name: string };
  /** The event that starts its workflow; null where none does. */
  triggerEvent: string | null;
  version: number;
  graph: WalkableGraph;
  /** null: it was deleted. */
  contactId: string | null;
  /** Whether an event caused by a call with a public key started it, or ended one of its waits. */
  fromPublicKey: boolean;
  status: ExecutionStatus;
  stepId: string | null;
  dueAt: Date | null;
  waitsFor: string | null;
  context: Readonly<Record<string, unknown>>;
  /** What steps came to that later ones may use, by their names. */
  results: Readonly<Record<string, unknown>>;
  /** Of the webhook it waits for. */
  answer: WebhookAnswer;
  trace: StepRun[];
  exitReason: string | null;
  startedAt: Date;
}

/** The run at which an execution stands. */
export function openRun({ trace }: Execution): StepRun | undefined {
  const last = trace.at(-1);
  return last?.end === undefined ? last : undefined;
}

export function stepOf({ graph, stepId }: Execution): GraphStep | undefined {
  return stepId === null ? undefined : graph.steps[graph.placeOf.get(stepId) ?? -1];
}

/** What conditions, mails and webhooks of an execution may use beside the contact. */
export function carriedBy({ context, results }: Pick<Execution, "context" | "results">) {
  return { event: context, workflow: context, steps: results };
}

export function walkable({ steps, transitions }: Graph): WalkableGraph {
  const placeOf = new Map(steps.map((step, place) => [step.id, place]));
  const ways = transitions.toSorted((one, other) => one.priority - other.priority);
  const trigger = steps.find(({ type }) => type === "TRIGGER");
  // A client that never heard of TRIGGER steps draws nothing from it (decisions §9).
  const isDrawn = transitions.some(({ fromStepId }) => fromStepId === trigger?.id);
  const start = (isDrawn ? trigger : firstStepOf({ steps, transitions })) ?? trigger ?? steps[0];
  if (start === undefined) throw new Error("A graph has no steps.");
  return {
    steps,
    placeOf,
    startStepId: start.id,
    nextOf(stepId, branch) {
      const own = ways.filter(({ fromStepId }) => fromStepId === stepId);
      const way = own.find((one) => one.branch === branch) ?? own.find((one) => one.branch === null);
      return way?.toStepId ?? null;
    },
  };
}

const PAUSES: ReadonlySet<StepType> = new Set(["DELAY", "WAIT_FOR_EVENT"]);

/**
 * The instant, ms, from which on events count for the wait at which an execution stands, however late it is looked at: when the DELAY or wait
 * before it was over, else when the execution began; how long it stood failed does not put it off. What started it, or ended a wait, happened
 * once: it ends no other. Others may have happened in that very instant, since one statement stores many.
 */
export function waitBegan(execution: Execution): number {
  const { trace, graph, startedAt, triggerEvent } = execution;
  const runs = trace.slice(0, -1);
  const stepAt = ({ n }: StepRun) => graph.steps[n];
  const awaited = awaitedName(stepOf(execution));
  const used = runs.flatMap((run) => (awaitedName(stepAt(run)) === awaited ? (endedBy(run) ?? []) : []));
  const lastUsed = used.at(-1) ?? (triggerEvent === awaited ? startedAt : null);
  return Math.max(lastUsed === null ? -Infinity : behindMs(lastUsed), overMs());

  function overMs(): number {
    const pause = runs.findLast((run) => run.is !== "FAILED" && PAUSES.has(stepAt(run)?.type ?? "TRIGGER"));
    if (pause === undefined) return startedAt.getTime();
    return endedBy(pause)?.getTime() ?? pause.until ?? pause.at;
  }
}

const awaitedName = (step: GraphStep | undefined) =>
  step?.type === "WAIT_FOR_EVENT" ? step.config.eventName : null;

/** When the event happened that ended a wait; null where none did. */
function endedBy({ via, out }: StepRun): Date | null {
  const at = via === "event" ? out?.["at"] : undefined;
  return typeof at === "string" ? new Date(at) : null;
}

/** The first instant, ms, behind one that is kept to the ms. */
const behindMs = (instant: Date) => instant.getTime() + 1;

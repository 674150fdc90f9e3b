// Lets people go through the workflows of a history, step by step, and records it as the engine does.
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import { filterOfCondition } from "@postloft/contract/workflows/condition.ts";
import {
  walkable,
  type StepRun,
  type WalkableGraph,
} from "../../../server/src/workflows/executions/execution.ts";
import { packTrace } from "../../../server/src/workflows/executions/stored-trace.ts";
import type { StepTally } from "../../../server/src/workflows/executions/walk.ts";
import { delayMs } from "@postloft/contract/workflows/delay.ts";
import type { Person } from "./people.ts";
import { DAY_MS } from "./people.ts";
import type { Random } from "./random.ts";
import { instant, type Rows } from "./rows.ts";
import type { Letter, SentEmails } from "./sent-emails.ts";
import type { Timeline } from "./timeline.ts";

/** A workflow of the project, with what its emails say. */
export interface RunWorkflow {
  id: string;
  name: string;
  eventName: string;
  allowReentry: boolean;
  graph: WalkableGraph;
  /** The emails of its steps by template. */
  letters: ReadonlyMap<string, Letter>;
}

interface Parts {
  random: Random;
  timeline: Timeline;
  rows: Rows;
  sent: SentEmails;
}

export interface TrackedEvent {
  id: string;
  name: string;
  person: Person;
  atMs: number;
  data: Readonly<Record<string, unknown>>;
}

interface Run {
  id: string;
  workflow: RunWorkflow;
  person: Person;
  startedMs: number;
  context: Readonly<Record<string, unknown>>;
  status: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED";
  stepId: string | null;
  trace: StepRun[];
  results: Record<string, unknown>;
  exitReason: string | null;
  endedMs: number | null;
  goalMs: number | null;
  /** When the current wait ends, and the event that ends it earlier. */
  untilMs: number | null;
  waitsFor: string | null;
}

/** Failures of endpoints, in the words of server/src/webhooks. */
const FAILURES = [
  "The endpoint responded with 503.",
  "The endpoint responded with 503.",
  "The endpoint responded with 422.",
  "The endpoint did not respond within 10 s.",
];
const CALL_FAILS = 0.09;
const CALL_MS = 400;
/** The key of a step run with the branch that it took. */
const BRANCH = "via" satisfies keyof StepRun;
/** The engine starts an execution a moment after the event, and an email follows a moment after its step. */
const MOMENT_MS = 15;

export class WorkflowRuns {
  private readonly deps: Parts;
  private readonly workflows: readonly RunWorkflow[];
  private readonly runs: Run[] = [];
  private readonly tallies = new Map<string, StepTally & { workflowId: string }>();

  constructor(deps: Parts, workflows: readonly RunWorkflow[]) {
    this.deps = deps;
    this.workflows = workflows;
  }

  private tally({ workflow }: Run, stepId: string, what: keyof StepTally): void {
    const none = { entered: 0, passed: 0, skipped: 0, failed: 0, cancelled: 0 };
    const counts = this.tallies.get(stepId) ?? { workflowId: workflow.id, ...none };
    counts[what]++;
    this.tallies.set(stepId, counts);
  }

  private enter(workflow: RunWorkflow, { person, atMs, data }: TrackedEvent): void {
    const earlier = this.runs.filter((run) => run.person === person && run.workflow === workflow);
    const isActive = earlier.some(({ endedMs }) => endedMs === null);
    if (isActive || (!workflow.allowReentry && earlier.length > 0)) return;
    const run: Run = {
      id: this.deps.random.id(atMs),
      workflow,
      person,
      startedMs: atMs,
      context: data,
      status: "RUNNING",
      stepId: workflow.graph.startStepId,
      trace: [],
      results: {},
      exitReason: null,
      endedMs: null,
      goalMs: null,
      untilMs: null,
      waitsFor: null,
    };
    this.runs.push(run);
    this.begin(run, atMs);
  }

  /** Reaches the current step of an execution and takes it, or waits there. */
  private begin(run: Run, atMs: number): void {
    const { steps, placeOf } = run.workflow.graph;
    const n = placeOf.get(run.stepId ?? "") ?? -1;
    const step = steps[n];
    if (step === undefined) return this.end(run, "COMPLETED", atMs, null);
    run.trace.push({ n, at: atMs });
    this.tally(run, step.id, "entered");
    this.take(run, step, atMs);
  }

  private take(run: Run, step: GraphStep, atMs: number): void {
    switch (step.type) {
      case "SEND_EMAIL":
        return this.email(run, step.id, step.config.templateId ?? "", atMs);
      case "DELAY":
        return this.wait(
          run,
          atMs + delayMs({ amount: step.config.amount ?? 0, unit: step.config.unit ?? "minutes" }),
        );
      case "WAIT_FOR_EVENT":
        return this.wait(run, atMs + (step.config.timeout ?? 0) * 1_000, step.config.eventName);
      case "CONDITION":
        return this.decide(run, step.config, atMs);
      case "WEBHOOK":
        // A call that would end after the history ends now, because no process will finish it.
        if (
          !this.deps.timeline.at(atMs + this.deps.random.between(0.3, 2) * CALL_MS, (ms) =>
            this.respond(run, step, ms),
          )
        )
          this.respond(run, step, atMs);
        return;
      case "EXIT":
        this.tally(run, step.id, "passed");
        return this.end(run, "EXITED", atMs, step.config.reason ?? "exit_step");
      default:
        return this.goOn(run, { atMs });
    }
  }

  private email(run: Run, stepId: string, templateId: string, atMs: number): void {
    const letter = run.workflow.letters.get(templateId);
    if (letter === undefined) throw new Error(`There is no email for the template ${templateId}.`);
    if (!run.person.subscribed)
      return this.goOn(run, { atMs, is: "SKIPPED", out: { reason: "The contact is not subscribed." } });
    const emailId = this.deps.sent.send(letter, run.person, atMs + MOMENT_MS, {
      id: run.workflow.id,
      stepId,
    });
    this.goOn(run, { atMs, out: { emailId } });
  }

  private wait(run: Run, untilMs: number, waitsFor: string | null = null): void {
    Object.assign(run, { status: "WAITING", untilMs, waitsFor });
    const last = run.trace.at(-1);
    if (last !== undefined) last.until = untilMs;
    this.deps.timeline.at(untilMs, (ms) => {
      // An event may have ended the wait.
      if (run.untilMs === untilMs && run.trace.at(-1) === last && run.endedMs === null)
        this.goOn(run, { atMs: ms, ...(waitsFor === null ? {} : { branch: "timeout" }) });
    });
  }

  private decide(run: Run, config: Readonly<Record<string, unknown>>, atMs: number): void {
    const [condition] = filterOfCondition(config).conditions;
    if (condition === undefined || "conditions" in condition)
      throw new Error("Only one condition is known here.");
    const { field, operator, value } = condition;
    const seen = run.person.data[field.replace(/^data\./, "")] ?? null;
    const matches = seen === value;
    const compared = [{ field, operator, value, seen, matches }];
    this.goOn(run, { atMs, branch: matches ? "yes" : "no", out: { compared } });
  }

  private respond(run: Run, step: GraphStep, atMs: number): void {
    if (!this.deps.random.chance(CALL_FAILS)) {
      run.results[step.name] = { status: 200, body: { ok: true } };
      return this.goOn(run, { atMs, out: { status: 200 } });
    }
    const error = this.deps.random.pick(FAILURES);
    const last = run.trace.at(-1);
    if (last !== undefined) Object.assign(last, { is: "FAILED", error });
    this.tally(run, step.id, "failed");
    this.end(run, "FAILED", atMs, error);
  }

  /** Leaves the current step for the next one. */
  private goOn(
    run: Run,
    {
      atMs,
      branch = null,
      ...result
    }: { atMs: number; branch?: string | null } & Pick<StepRun, "is" | "out">,
  ): void {
    const last = run.trace.at(-1);
    if (last !== undefined) Object.assign(last, branch === null ? result : { [BRANCH]: branch, ...result });
    this.tally(run, run.stepId ?? "", result.is === "SKIPPED" ? "skipped" : "passed");
    Object.assign(run, { status: "RUNNING", untilMs: null, waitsFor: null });
    const next = run.workflow.graph.nextOf(run.stepId ?? "", branch);
    if (next === null) return this.end(run, "COMPLETED", atMs, null);
    if (last !== undefined) last.end = atMs;
    run.stepId = next;
    this.begin(run, atMs);
  }

  private end(run: Run, status: Run["status"], atMs: number, reason: string | null): void {
    const last = run.trace.at(-1);
    if (last !== undefined) last.end = atMs;
    Object.assign(run, { status, exitReason: reason, endedMs: atMs, untilMs: null, waitsFor: null });
    if (status !== "FAILED") run.stepId = null;
  }

  /** Tells the workflows of an event, which may start, continue or end executions and reach goals. */
  happened(event: TrackedEvent): void {
    for (const run of this.runs.filter(({ person }) => person === event.person)) {
      const { goal } = run.workflow.graph;
      const isInTime = goal !== undefined && event.atMs <= run.startedMs + goal.days * DAY_MS;
      if (goal?.eventName === event.name && isInTime) run.goalMs ??= event.atMs;
      if (run.waitsFor !== event.name) continue;
      const name = run.workflow.graph.steps[run.trace.at(-1)?.n ?? -1]?.name ?? "";
      run.results[name] = event.data;
      this.goOn(run, {
        atMs: event.atMs,
        branch: "event",
        out: { eventId: event.id, at: instant(event.atMs) },
      });
    }
    for (const workflow of this.workflows)
      if (workflow.eventName === event.name) this.enter(workflow, { ...event, atMs: event.atMs + MOMENT_MS });
  }

  /** Adds the rows of all executions, as they are at the end. */
  addRows(): void {
    const { rows } = this.deps;
    for (const run of this.runs) rows.add("workflow_executions", rowOf(run));
    for (const [stepId, { workflowId, ...counts }] of this.tallies)
      rows.add("workflow_step_counts", { workflow_id: workflowId, step_id: stepId, ...counts });
  }
}

/** Returns the graph of a workflow as the API shows it, ready for its executions. */
export const graphOf = walkable;

function rowOf(run: Run) {
  const { workflow, untilMs, endedMs, goalMs } = run;
  return {
    id: run.id,
    workflow_id: workflow.id,
    contact_id: run.person.id,
    entry: workflow.allowReentry ? entryOf(run.id) : "0",
    version: 1,
    status: run.status,
    step_id: run.stepId,
    due_at: untilMs === null ? null : instant(untilMs),
    waits_for: run.waitsFor,
    context: run.context,
    results: Object.keys(run.results).length === 0 ? null : run.results,
    trace: JSON.parse(packTrace(run.trace)) as unknown,
    exit_reason: run.exitReason,
    started_at: instant(run.startedMs),
    ended_at: endedMs === null ? null : instant(endedMs),
    goal_reached_at: goalMs === null ? null : instant(goalMs),
  };
}

/** Returns a number that no other entry has, made of the ID as `insertExecutions` in server/src/workflows does. */
const entryOf = (id: string) =>
  BigInt.asIntN(64, BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(-4)}`)).toString();

// Random versions of a workflow with moves, undos and steps in any order. No email is sent twice, and the log explains each step.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as templates from "@postloft/contract/templates.ts";
import type { Graph, StepType } from "@postloft/contract/workflows/graph.ts";
import { transaction } from "../../platform/database/database.ts";
import { readJobInput } from "../../platform/background/jobs.ts";
import { newId } from "../../platform/ids.ts";
import { stepPartsOf } from "../../testing/step-parts.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf, type DrawnStep, type DrawnWorkflow } from "../../testing/workflow-fixture.ts";
import { advanceDue } from "./advance.ts";
import { insertExecutions, markVersionsUsed } from "./entry-queries.ts";
import { walkable, type Move, type StepRun } from "./execution.ts";
import { MOVE_JOB, moveStep, requestMove } from "./move-executions.ts";
import { undoMoveStep } from "./undo-move.ts";
import { unpackTrace } from "./stored-trace.ts";

/** No engine and no jobs run, so only the test moves and advances executions. */
const server = useTestServer({ ROLES: "api" });
const RUNS = 40;
const VERSIONS = 3;
const STEPS = 6;

const step = fc.constantFrom<StepType>(
  "DELAY",
  "DELAY",
  "SEND_EMAIL",
  "WAIT_FOR_EVENT",
  "UPDATE_CONTACT",
  "CONDITION",
);
const place = fc.integer({ min: 0, max: STEPS });
/** Moves and undos may come before the next step, as in a paused workflow. */
const action = fc.oneof(
  fc.record({ is: fc.constant("wait ends" as const), isPaused: fc.constant(false) }),
  fc.record({
    is: fc.constant("move" as const),
    version: fc.integer({ min: 1, max: VERSIONS }),
    applyDelays: fc.boolean(),
    /** Where people go from steps that are missing, and from all steps if it is a jump. */
    to: fc.oneof(
      { weight: 4, arbitrary: place },
      { weight: 1, arbitrary: fc.constantFrom("stay" as const, "exit" as const) },
    ),
    isJump: fc.boolean(),
    isPaused: fc.boolean(),
  }),
  fc.record({ is: fc.constant("undo" as const), isPaused: fc.boolean() }),
);
const story = fc.record({
  types: fc.array(step, { minLength: STEPS, maxLength: STEPS }),
  /** The steps that each later version lacks. */
  lacks: fc.array(fc.uniqueArray(fc.integer({ min: 1, max: STEPS }), { maxLength: 3 }), {
    minLength: VERSIONS - 1,
    maxLength: VERSIONS - 1,
  }),
  actions: fc.array(action, { minLength: 6, maxLength: 12 }),
});

const configOf = (type: StepType, templateId: string, minutes: number): object =>
  ({
    DELAY: { amount: minutes, unit: "minutes" },
    SEND_EMAIL: { templateId },
    WAIT_FOR_EVENT: { eventName: "never", timeout: minutes * 60 },
    UPDATE_CONTACT: { updates: { x: 1 } },
    CONDITION: { field: "data.x", operator: "equals", value: 1 },
  })[type as "DELAY"] ?? {};

/** Returns a version without some steps, with other delays. Each step leads to the next one on all its branches. */
function versionOf({ steps }: Graph, lacks: readonly number[], version: number): Graph {
  const kept = steps.filter((_, at) => !lacks.includes(at));
  const changed = kept.map((one) =>
    one.type === "DELAY" ? { ...one, config: { amount: version * 10, unit: "minutes" as const } } : one,
  );
  const transitions = changed.slice(1).map(({ id }, at) => ({
    id: newId(),
    fromStepId: changed[at]?.id ?? "",
    toStepId: id,
    branch: null,
    priority: 0,
  }));
  return { steps: changed, transitions };
}

interface State {
  status: string;
  stepId: string | null;
  version: number;
  trace: StepRun[];
  moves: Move[];
}

async function stateOf(id: string): Promise<State> {
  const [row] = await server.rows<State & { trace: unknown; moves: Move[] | null }>(
    "select status, step_id, version, trace, moves from workflow_executions where id = $1",
    id,
  );
  if (row === undefined) throw new Error("The execution is missing.");
  return { ...row, trace: unpackTrace(row.trace), moves: row.moves ?? [] };
}

/** Returns the id of each run's step. */
const idsOf = ({ trace, version }: State, graphs: readonly Graph[]) =>
  trace.map(({ n, step: former }) => graphs[version - 1]?.steps[n]?.id ?? former?.id ?? "");

/** Fails unless each run follows from the run before it in the version at that time, or from a move to another step. */
function expectExplained(state: State, graphs: readonly Graph[]): void {
  const ids = idsOf(state, graphs);
  ids.forEach((stepId, at) => {
    const before = ids[at - 1];
    if (before === undefined) return;
    const moves = state.moves.filter(({ runs }) => runs <= at);
    if (moves.some(({ runs, isJump }) => isJump === true && runs === at)) return;
    const graph = graphs[(moves.at(-1)?.to ?? 1) - 1];
    if (graph === undefined) throw new Error("The version is missing.");
    expect(walkable(graph).nextOf(before, null)).toBe(stepId);
  });
}

test("sends no email twice and explains every step when moves, undos and steps alternate", async () => {
  const { id: projectId, byKey } = server.project;
  const { database } = server;
  const body = { name: "News", subject: "s", body: "b", from: "news@sandbox.localhost" };
  const template = await server.call(templates.createTemplate, byKey, {
    body: { ...body, type: "TRANSACTIONAL" },
  });
  const parts = stepPartsOf(database, APP_SECRET);
  const advance = async () => {
    while ((await advanceDue(database, parts, projectId)) > 0);
  };

  async function enter(workflow: DrawnWorkflow, graphs: readonly Graph[]): Promise<string> {
    for (const [at, graph] of graphs.entries())
      await server.rows(
        `insert into workflow_versions (project_id, workflow_id, version, graph) values ($1, $2, $3, $4)
         on conflict (project_id, workflow_id, version) do update set graph = excluded.graph`,
        projectId,
        workflow.id,
        at + 1,
        JSON.stringify(graph),
      );
    const [contact] = await server.rows<{ id: string }>(
      "insert into contacts (project_id, id, email, subscribed) values ($1, new_id(), $2, true) returning id",
      projectId,
      `${newId()}@example.com`,
    );
    const entry = entryOf(workflow, contact?.id ?? "");
    await transaction(database, async (tx) => {
      await insertExecutions(tx, projectId, [entry]);
      await markVersionsUsed(tx, projectId, [{ workflowId: workflow.id, version: 1 }]);
    });
    return entry.id;
  }

  /** Moves the execution and returns the id of the job. */
  async function move(
    workflowId: string,
    version: number,
    choices: Record<string, string>,
    applyDelays: boolean,
  ) {
    await server.rows("update workflows set version = $2 where id = $1", workflowId, version);
    const all = { stepIds: null, versions: null, executionIds: null };
    const jobId = await transaction(database, (tx) =>
      requestMove(tx, projectId, workflowId, { ...all, choices, applyDelays, expectedUpdatedAt: undefined }),
    );
    const input = (await readJobInput(database, { projectId, id: jobId }, [MOVE_JOB]))?.input;
    const job = { projectId, id: jobId, input, checkpoint: null, createdAt: new Date() };
    await transaction(database, (tx) => moveStep(tx, job));
    return jobId;
  }

  const undo = (jobId: string) =>
    transaction(database, (tx) =>
      undoMoveStep(tx, {
        projectId,
        id: newId(),
        input: { undoes: jobId },
        checkpoint: null,
        createdAt: new Date(),
      }),
    );

  await fc.assert(
    fc.asyncProperty(story, async ({ types, lacks, actions }) => {
      const steps = types.map((type, at): DrawnStep => [
        `s${at + 1}`,
        type,
        configOf(type, template.body.id, 10),
      ]);
      const workflow = await drawWorkflow(database, projectId, {
        steps: [["trigger", "TRIGGER"], ...steps],
        links: [],
      });
      const graphs = [[], ...lacks].map((lacking, at) => versionOf(workflow.graph, lacking, at + 1));
      const id = await enter(workflow, graphs);
      await advance();
      let jobId: string | null = null;
      for (const one of actions) {
        const { stepId } = await stateOf(id);
        if (one.is === "wait ends")
          await server.rows(
            `update workflow_executions set due_at = now(), trace = jsonb_set(trace, '{-1,until}', '1000')
             where id = $1 and status = 'WAITING'`,
            id,
          );
        else if (one.is === "undo" && jobId !== null) await undo(jobId);
        else if (one.is === "move" && stepId !== null) {
          const graph = graphs[one.version - 1];
          const isThere = graph?.steps.some((known) => known.id === stepId) === true;
          const target = typeof one.to === "number" ? graph?.steps[one.to % graph.steps.length]?.id : one.to;
          const choices = target === undefined || (isThere && !one.isJump) ? {} : { [stepId]: target };
          jobId = await move(workflow.id, one.version, choices, one.applyDelays);
        }
        if (!one.isPaused) await advance();
        const state = await stateOf(id);
        expectExplained(state, graphs);
        const sent = await server.rows<{ stepId: string; count: number }>(
          `select workflow_step_id as step_id, count(*)::integer as count from emails where project_id = $1 and workflow_id = $2 group by 1 order by 1`,
          projectId,
          workflow.id,
        );
        expect(sent.map(({ count }) => count)).toEqual(sent.map(() => 1));
        const logged = idsOf(state, graphs).filter(
          (_, at) => state.trace[at]?.out?.["emailId"] !== undefined,
        );
        expect(logged.toSorted()).toEqual(sent.map((row) => row.stepId));
        const [counts] = await server.rows<{ waiting: number; least: number }>(
          `select sum(n)::integer as waiting, min(n)::integer as least from (
             select entered - passed - skipped - failed - cancelled as n from workflow_step_counts where workflow_id = $1) c`,
          workflow.id,
        );
        const isOpen = state.trace.at(-1)?.end === undefined;
        expect(counts).toEqual({ waiting: isOpen ? 1 : 0, least: 0 });
        expect(["WAITING", "COMPLETED", "EXITED", ...(one.isPaused ? ["RUNNING"] : [])]).toContain(
          state.status,
        );
      }
    }),
    { numRuns: RUNS },
  );
});

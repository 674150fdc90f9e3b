// Random graphs and histories. The engine and the simulation must take the same path as a plain interpreter that uses neither.
import * as fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import * as contactsContract from "@postloft/contract/contacts.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import * as templates from "@postloft/contract/templates.ts";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import { branchesOf, type Graph, type GraphStep, type StepType } from "@postloft/contract/workflows/graph.ts";
import { createWebhookVault } from "../../webhooks/webhook-vault.ts";
import { createSealer } from "../../platform/crypto.ts";
import { createDns } from "../../platform/dns.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createDomains } from "../../domains/domains.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { recordEventsFrom } from "../../events/events.ts";
import { createFiller } from "../../rendering/fill-text.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import {
  drawWorkflow,
  entryOf,
  type DrawnLink,
  type DrawnStep,
  type DrawnWorkflow,
} from "../../testing/workflow-fixture.ts";
import { readExitNames } from "../exit-rules.ts";
import { subscribeWorkflows } from "../subscriptions.ts";
import { storeExecutions } from "./advance.ts";
import { createDatabaseEnvironment } from "./database-environment.ts";
import { readMailPlans } from "./mail-plans.ts";
import { insertExecutions } from "./entry-queries.ts";
import { walkable, type Execution, type StepRun } from "./execution.ts";
import { variablesOf } from "./execution-variables.ts";
import { countGoals } from "./goal-queries.ts";
import { goalReachedAt } from "./goals.ts";
import { reactOnce } from "./react.ts";
import { createShares } from "./shares.ts";
import { chosenResponses, newExecution } from "./simulate.ts";
import { simulateExecution, type SimulatedEvent } from "./simulated-environment.ts";
import { unpackTrace } from "./stored-trace.ts";
import { walk } from "./walk.ts";

const NO_LIMITS = {
  PUBLIC_KEY_EMAILS_PER_HOUR: 0,
  PUBLIC_KEY_EMAILS_PER_DAY: 0,
  PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: 0,
};
const server = useTestServer({ ROLES: "api" });
const START = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const RUNS = 60;
const NAMES = ["a", "b"];

interface Passage {
  step: string;
  atMs: number;
  endMs: number | null;
  how: string;
}

/** A filter on the data of an event, with a constant or a variable. */
const eventFilter = fc.constantFrom(0, 1, "{{event.x}}").map((value) => ({
  operator: "AND" as const,
  conditions: [{ field: "data.v", operator: "equals" as const, value }],
}));
const exit = fc.oneof(
  fc.record(
    { type: fc.constant("EVENT" as const), eventName: fc.constantFrom(...NAMES), filter: eventFilter },
    { requiredKeys: ["type", "eventName"] },
  ),
  fc.record({
    type: fc.constant("FILTER" as const),
    filter: fc.integer({ min: 0, max: 3 }).map((value) => ({
      operator: "AND" as const,
      conditions: [{ field: "data.x", operator: "equals" as const, value }],
    })),
  }),
);
const goal = fc.record(
  {
    eventName: fc.constantFrom(...NAMES),
    days: fc.constant(1),
    filter: eventFilter,
    exits: fc.boolean(),
  },
  { requiredKeys: ["eventName", "days"] },
);

const comparison = fc.record({
  field: fc.constantFrom("data.x", "event.x"),
  operator: fc.constantFrom("equals", "greaterThan", "lessThan"),
  value: fc.integer({ min: 0, max: 3 }),
});
const branchNamed = (name: string) => fc.record({ name: fc.constant(name), filter: comparison });

/** Steps lead only to later steps, or nowhere. */
const drawing = fc.integer({ min: 1, max: 8 }).chain((count) =>
  fc.record({
    steps: fc.array(
      fc.oneof(
        fc.record({
          type: fc.constant("DELAY" as const),
          config: fc.record({ amount: fc.integer({ min: 1, max: 90 }), unit: fc.constant("minutes") }),
        }),
        fc.record({
          type: fc.constant("WAIT_FOR_EVENT" as const),
          config: fc.record(
            { eventName: fc.constantFrom(...NAMES), timeout: fc.integer({ min: 30, max: 7_200 }) },
            { requiredKeys: ["eventName"] },
          ),
        }),
        fc.record({
          type: fc.constant("CONDITION" as const),
          config: comparison,
        }),
        fc.record({
          type: fc.constant("BRANCH" as const),
          config: fc.record({
            branches: fc.tuple(branchNamed("first"), branchNamed("second")).map((two) => [...two]),
          }),
        }),
        fc.record({
          type: fc.constant("RANDOM_SPLIT" as const),
          config: fc.constantFrom(40, 60).map((percent) => ({
            shares: [
              { name: "one", percent },
              { name: "other", percent: 100 - percent },
            ],
          })),
        }),
        fc.record({
          type: fc.constant("UPDATE_CONTACT" as const),
          config: fc.record({
            updates: fc.record({ x: fc.integer({ min: 0, max: 3 }) }),
            subscriptionAction: fc.constantFrom("none", "subscribe", "unsubscribe"),
          }),
        }),
        fc.record({ type: fc.constant("SEND_EMAIL" as const), config: fc.constant({}) }),
        fc.record({ type: fc.constant("EXIT" as const), config: fc.constant({}) }),
      ),
      { minLength: count, maxLength: count },
    ),
    leaps: fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }), {
      minLength: 9,
      maxLength: 9,
    }),
    events: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        // The last two are around the end of a goal's window.
        afterMs: fc
          .oneof(
            { weight: 9, arbitrary: fc.integer({ min: 1, max: 300 }) },
            { weight: 1, arbitrary: fc.constantFrom(1_439, 1_440) },
          )
          .map((one) => one * MINUTE),
        v: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 6 },
    ),
    exitConditions: fc.array(exit, { maxLength: 2 }),
    goal: fc.option(goal),
    x: fc.integer({ min: 0, max: 3 }),
    carried: fc.integer({ min: 0, max: 3 }),
    subscribed: fc.boolean(),
  }),
);

function draw(
  steps: ReadonlyArray<{ type: StepType; config: object }>,
  leaps: ReadonlyArray<readonly number[]>,
  templateId: string,
): { steps: DrawnStep[]; links: DrawnLink[] } {
  const all: DrawnStep[] = [
    ["s0", "TRIGGER"],
    ...steps.map(({ type, config }, at): DrawnStep => [
      `s${at + 1}`,
      type,
      type === "SEND_EMAIL" ? { templateId } : config,
    ]),
  ];
  const links = all.flatMap(([name, type, config], at): DrawnLink[] => {
    if (type === "EXIT") return [];
    const ways = leaps[at] ?? [];
    const branches = branchesOf({ type, config } as GraphStep);
    return (branches.length === 0 ? [undefined] : branches).flatMap((branch, which): DrawnLink[] => {
      // Three steps ahead means no transition.
      const leap = at === 0 ? 0 : (ways[which] ?? 0);
      const to = at + 1 + leap;
      return leap === 3 || to >= all.length
        ? []
        : [branch === undefined ? [name, `s${to}`] : [name, `s${to}`, branch]];
    });
  });
  return { steps: all, links };
}

interface History {
  x: number;
  carried: number;
  subscribed: boolean;
  events: readonly DatedEvent[];
}

interface DatedEvent {
  name: string;
  atMs: number;
  v: number;
}

interface Outcome {
  path: Passage[];
  /** The reason of an exit condition, or null. */
  left: string | null;
}

/** Whether an event has the name and the data that an exit condition or a goal asks for. */
function counts(
  { eventName, filter }: Pick<Goal, "eventName" | "filter">,
  { name, v }: DatedEvent,
  carried: number,
): boolean {
  const value = filter === undefined ? v : valueOf(filter);
  return name === eventName && v === (value === "{{event.x}}" ? carried : value);
}

/** Returns the value of a filter with one condition. */
function valueOf({ conditions: [only] }: Filter): unknown {
  return only !== undefined && "value" in only ? only.value : undefined;
}

const goalTime = (aim: Goal | undefined, { events, carried }: History): number | null =>
  aim === undefined
    ? null
    : (events.find((one) => counts(aim, one, carried) && one.atMs < START + 1_440 * MINUTE)?.atMs ?? null);

/** The plain interpreter: one contact, one step after the other, without batches or rows. */
function interpret({ steps, transitions, exitConditions = [], goal: aim }: Graph, history: History): Outcome {
  const passages: Passage[] = [];
  let [nowMs, x, subscribed] = [START, history.x, history.subscribed];
  // An event that started the execution or ended a wait cannot end another wait.
  let sinceMs = START;
  const usedMs = new Map<string, number>();
  const exits: Array<Pick<Goal, "eventName" | "filter">> = [
    ...exitConditions.filter((one) => one.type === "EVENT"),
    ...(aim?.exits === true ? [aim] : []),
  ];
  const exitEvent = history.events.find((event) => exits.some((one) => counts(one, event, history.carried)));
  for (let step: GraphStep | undefined = steps[0]; step !== undefined;) {
    const current: GraphStep = step;
    const atMs = nowMs;
    const met = exitConditions.find((one) => one.type === "FILTER" && valueOf(one.filter) === x);
    if (met !== undefined) return { path: passages, left: `Exit condition: data.x equals ${x}` };
    let [how, branch] = ["COMPLETED", null as string | null];
    if (current.type === "DELAY") sinceMs = nowMs += (current.config.amount ?? 0) * MINUTE;
    const holds = (written: object): boolean => {
      const { field, operator, value } = written as { field: string; operator: string; value: number };
      const seen = field === "data.x" ? x : history.carried;
      return operator === "equals" ? seen === value : operator === "lessThan" ? seen < value : seen > value;
    };
    if (current.type === "CONDITION") branch = holds(current.config) ? "yes" : "no";
    if (current.type === "BRANCH")
      branch = current.config.branches.find(({ filter }) => holds(filter))?.name ?? "else";
    // The first contact takes the largest share.
    if (current.type === "RANDOM_SPLIT") branch = current.config.shares[0]?.percent === 60 ? "one" : "other";
    if (current.type === "UPDATE_CONTACT") {
      x = current.config.updates?.["x"] as number;
      subscribed = { none: subscribed, subscribe: true, unsubscribe: false }[
        current.config.subscriptionAction ?? "none"
      ];
    }
    if (current.type === "SEND_EMAIL" && !subscribed) how = "SKIPPED";
    if (current.type === "WAIT_FOR_EVENT") {
      const { eventName, timeout = Infinity } = current.config;
      const endMs = atMs + timeout * 1_000;
      const came = history.events.find(
        (one) =>
          one.name === eventName &&
          one.atMs >= sinceMs &&
          one.atMs > (usedMs.get(eventName) ?? 0) &&
          one.atMs < endMs,
      );
      nowMs = came?.atMs ?? endMs;
      sinceMs = nowMs;
      if (came !== undefined) usedMs.set(eventName, nowMs);
      branch = came === undefined ? "timeout" : "event";
    }
    if (exitEvent !== undefined && exitEvent.atMs <= nowMs) {
      passages.push({ step: current.name, atMs, endMs: exitEvent.atMs, how: "CANCELLED" });
      return { path: passages, left: `Exit condition: the event "${exitEvent.name}" happened.` };
    }
    if (nowMs === Infinity) {
      passages.push({ step: current.name, atMs, endMs: null, how: "WAITING" });
      break;
    }
    passages.push({ step: current.name, atMs, endMs: nowMs, how: branch ?? how });
    if (current.type === "EXIT") break;
    const way = transitions.find((one) => one.fromStepId === current.id && one.branch === branch);
    step = steps.find(({ id }) => id === way?.toStepId);
  }
  return { path: passages, left: null };
}

const pathOf = ({ trace, graph }: Execution): Passage[] =>
  trace.map(({ n, at, end, is, via }) => ({
    step: graph.steps[n]?.name ?? "",
    atMs: at,
    endMs: end ?? null,
    how: end === undefined ? "WAITING" : (via ?? is ?? "COMPLETED"),
  }));

test("engine and simulation take the path of a plain interpreter for any graph and history", async () => {
  const { id: projectId, byKey } = server.project;
  const { database } = server;
  const template = await server.call(templates.createTemplate, byKey, {
    body: {
      name: "News",
      subject: "s",
      body: "b",
      type: "MARKETING",
      from: "news@sandbox.localhost",
    },
  });
  const domains = createDomains({
    database,
    sealer: createSealer(APP_SECRET),
    dns: createDns([]),
    log: createLog({ level: "silent" }),
    staysHere: true,
    returnPath: null,
    baseUrl: () => "https://post.example",
  });
  const mails = await readMailPlans(database, {
    projectId,
    domains,
    mails: [{ templateId: template.body.id, locale: undefined }],
  });
  let contacts = 0;
  await fc.assert(
    fc.asyncProperty(
      drawing,
      async ({ steps, leaps, events, x, carried, subscribed, exitConditions, goal: aim }) => {
        const workflow = await drawWorkflow(database, projectId, draw(steps, leaps, template.body.id));
        const graph: Graph = { ...workflow.graph, exitConditions, ...(aim !== null && { goal: aim }) };
        await store(workflow, graph);
        const happening = events
          .map(({ name, afterMs, v }) => ({ name, atMs: START + afterMs, v }))
          .toSorted((one, other) => one.atMs - other.atMs);
        const history = { x, carried, subscribed, events: happening };
        const { path: expected, left } = interpret(graph, history);
        const reachedMs = goalTime(graph.goal, history);
        const email = `contact${++contacts}@example.com`;
        const made = await server.call(contactsContract.upsertContact, byKey, {
          body: {
            email,
            subscribed,
            data: { x },
          },
        });
        const contactId = made.body.id;
        const start = () =>
          newExecution({
            projectId,
            workflow: { id: workflow.id, name: "Random", triggerEvent: null },
            version: 1,
            graph: walkable(graph),
            contactId,
            context: { x: carried },
            startedAt: new Date(START),
          });
        const simulated = start();
        const loaded = await loadFilterContacts(database, {
          projectId,
          contactIds: [contactId],
          filters: [],
          segments: new Map(),
        });
        const contact = loaded.get(contactId);
        if (contact === undefined) throw new Error("The contact is missing.");
        const future = happening.map(({ name, atMs, v }): SimulatedEvent => ({
          name,
          at: new Date(atMs),
          data: { v },
        }));
        const after = await simulateExecution({
          execution: simulated,
          contact,
          events: future,
          mails,
          segments: new Map(),
          knownFields: [],
          vault: createWebhookVault(createSealer(APP_SECRET)),
          respond: chosenResponses({}),
          takeShare: createShares(),
        });
        expect(pathOf(simulated)).toEqual(expected);
        const filler = createFiller(() => variablesOf(simulated, after.contact));
        const simulatedGoal = graph.goal && goalReachedAt(graph.goal, simulated, future, filler);
        expect(simulatedGoal?.getTime() ?? null).toBe(reachedMs);
        const real = start();
        const entry = {
          ...entryOf(workflow, contactId, { x: carried }),
          id: real.id,
          stepId: real.stepId ?? "",
        };
        await transaction(database, (tx) =>
          insertExecutions(tx, projectId, [{ ...entry, startedAt: real.startedAt }]),
        );
        const { sent, goalMs } = await liveThrough(real, happening);
        expect(pathOf(real)).toEqual(expected);
        expect([simulated, real].map((one) => (left === null ? null : one.exitReason))).toEqual([left, left]);
        expect(goalMs).toBe(reachedMs);
        expect(await countGoals(database, projectId, workflow.id, 10)).toEqual(
          graph.goal === undefined ? null : { executions: 1, reached: reachedMs === null ? 0 : 1 },
        );
        expect(sent).toBe(
          expected.filter(
            ({ step, how }) =>
              how === "COMPLETED" && graph.steps.find(({ name }) => name === step)?.type === "SEND_EMAIL",
          ).length,
        );
      },
    ),
    { numRuns: RUNS },
  );

  /** Stores the exit conditions and the goal, as a saved workflow has them. */
  async function store(workflow: DrawnWorkflow, graph: Graph): Promise<void> {
    await server.rows(
      "update workflow_versions set graph = $3, exit_names = $4, goal_name = $5, is_used = true where project_id = $1 and workflow_id = $2",
      projectId,
      workflow.id,
      JSON.stringify(graph),
      await readExitNames(database, projectId, graph),
      graph.goal?.eventName ?? null,
    );
    await transaction(database, (tx) => subscribeWorkflows(tx, projectId));
  }

  /** Records an event at its time and processes it, and the changes of contacts before it. */
  async function happen(contactId: string | null, { name, atMs, v }: DatedEvent): Promise<void> {
    const source = sql`select ${projectId}::uuid, ${newId()}::uuid, ${contactId}::uuid, ${name}::text,
      ${JSON.stringify({ v })}::jsonb, null::uuid, ${new Date(atMs).toISOString()}::timestamptz, null::boolean`;
    await transaction(database, async (tx) => {
      await sql`with ${recordEventsFrom(source)} select`.execute(tx);
      await reactOnce(tx, projectId);
    });
  }

  /** Takes over the end that processing an event stored. Its time is the database's, so it becomes `nowMs`. */
  async function takeOver(execution: Execution, nowMs: number): Promise<{ goalMs: number | null }> {
    const [row] = await server.rows<{ status: string; reason: string; trace: unknown; goal: Date | null }>(
      "select status, exit_reason as reason, trace, goal_reached_at as goal from workflow_executions where project_id = $1 and id = $2",
      projectId,
      execution.id,
    );
    if (row?.status === "EXITED" && execution.status !== "EXITED") {
      const trace: StepRun[] = unpackTrace(row.trace);
      const last = trace.at(-1);
      if (last?.is === "CANCELLED") last.end = nowMs;
      Object.assign(execution, {
        trace,
        status: "EXITED",
        exitReason: row.reason,
        dueAt: null,
        waitsFor: null,
      });
    }
    return { goalMs: row?.goal?.getTime() ?? null };
  }

  /**
   * Replays a history with database rows, one instant after the other, to its last event.
   * @returns the number of emails in the outbox and when the goal was reached
   */
  async function liveThrough(
    execution: Execution,
    happening: readonly DatedEvent[],
  ): Promise<{ sent: number; goalMs: number | null }> {
    const coming = [...happening];
    let nowMs = START;
    let goalMs: number | null = null;
    let isDue = true;
    for (let turns = 0; turns < 100; turns++) {
      if (isDue) {
        await transaction(database, async (tx) => {
          await walk(
            createDatabaseEnvironment(tx, {
              projectId,
              now: new Date(nowMs),
              domains,
              publicKeyLimits: NO_LIMITS,
              sealer: createSealer(APP_SECRET),
            }),
            [execution],
          );
          await storeExecutions(tx, projectId, [execution]);
        });
      }
      const instants = [execution.dueAt?.getTime(), coming[0]?.atMs].filter((one) => one !== undefined);
      if (instants.length === 0) break;
      nowMs = Math.max(nowMs, Math.min(...instants));
      const { dueAt, waitsFor } = execution;
      isDue = dueAt !== null && dueAt.getTime() <= nowMs;
      const happened = coming.filter(({ atMs }) => atMs <= nowMs);
      if (happened.length === 0) continue;
      coming.splice(0, happened.length);
      for (const event of happened) await happen(execution.contactId, event);
      ({ goalMs } = await takeOver(execution, nowMs));
      isDue = execution.status === "WAITING" && (isDue || happened.some(({ name }) => name === waitsFor));
    }
    const [{ count: sent = 0 } = {}] = await server.rows<{ count: number }>(
      "select count(*)::int as count from emails where contact_id = $1",
      execution.contactId,
    );
    return { sent, goalMs };
  }
});

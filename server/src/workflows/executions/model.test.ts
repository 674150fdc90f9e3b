// Random graphs and histories. The engine and the simulation must take the same path as a plain interpreter that uses neither.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as templates from "@postloft/contract/templates.ts";
import type { Branch, Graph, GraphStep, StepType } from "@postloft/contract/workflows/graph.ts";
import { createWebhookVault } from "../../webhooks/webhook-vault.ts";
import { createSealer } from "../../platform/crypto.ts";
import { createDns } from "../../platform/dns.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createDomains } from "../../domains/domains.ts";
import { loadFilterContacts } from "../../segments/filters/load-contacts.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { graphOf, type DrawnLink, type DrawnStep } from "../../testing/workflow-fixture.ts";
import { createDatabaseEnvironment, readMailPlans } from "./database-environment.ts";
import { walkable, type Execution } from "./execution.ts";
import { newExecution } from "./simulate.ts";
import { simulateExecution, type SimulatedEvent } from "./simulated-environment.ts";
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
          config: fc.record({
            field: fc.constantFrom("data.x", "event.x"),
            operator: fc.constantFrom("equals", "greaterThan", "lessThan"),
            value: fc.integer({ min: 0, max: 3 }),
          }),
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
    leaps: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 })), {
      minLength: 9,
      maxLength: 9,
    }),
    events: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        afterMs: fc.integer({ min: 1, max: 300 }).map((one) => one * MINUTE),
      }),
      { maxLength: 6 },
    ),
    x: fc.integer({ min: 0, max: 3 }),
    carried: fc.integer({ min: 0, max: 3 }),
    subscribed: fc.boolean(),
  }),
);

const BRANCHES: Partial<Record<StepType, Branch[]>> = {
  CONDITION: ["yes", "no"],
  WAIT_FOR_EVENT: ["event", "timeout"],
};

function draw(
  steps: ReadonlyArray<{ type: StepType; config: object }>,
  leaps: ReadonlyArray<[number, number]>,
  templateId: string,
): Graph {
  const all: DrawnStep[] = [
    ["s0", "TRIGGER"],
    ...steps.map(({ type, config }, at): DrawnStep => [
      `s${at + 1}`,
      type,
      type === "SEND_EMAIL" ? { templateId } : config,
    ]),
  ];
  const links = all.flatMap(([name, type], at): DrawnLink[] => {
    if (type === "EXIT") return [];
    const ways = leaps[at] ?? [0, 0];
    return (BRANCHES[type] ?? [undefined]).flatMap((branch, which): DrawnLink[] => {
      // Three steps ahead means no transition.
      const leap = at === 0 ? 0 : (ways[which] ?? 0);
      const to = at + 1 + leap;
      return leap === 3 || to >= all.length
        ? []
        : [branch === undefined ? [name, `s${to}`] : [name, `s${to}`, branch]];
    });
  });
  return graphOf({ steps: all, links });
}

interface History {
  x: number;
  carried: number;
  subscribed: boolean;
  events: ReadonlyArray<{ name: string; atMs: number }>;
}

/** The plain interpreter: one contact, one step after the other, without batches or rows. */
function interpret({ steps, transitions }: Graph, history: History): Passage[] {
  const passages: Passage[] = [];
  let [nowMs, x, subscribed] = [START, history.x, history.subscribed];
  // An event that started the execution or ended a wait cannot end another wait.
  let sinceMs = START;
  const usedMs = new Map<string, number>();
  for (let step: GraphStep | undefined = steps[0]; step !== undefined;) {
    const current: GraphStep = step;
    const atMs = nowMs;
    let [how, branch] = ["COMPLETED", null as Branch | null];
    if (current.type === "DELAY") sinceMs = nowMs += (current.config.amount ?? 0) * MINUTE;
    if (current.type === "CONDITION") {
      const { field, operator, value } = current.config as { field: string; operator: string; value: number };
      const seen = field === "data.x" ? x : history.carried;
      const holds = { equals: seen === value, greaterThan: seen > value, lessThan: seen < value }[operator];
      branch = holds === true ? "yes" : "no";
    }
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
      if (came === undefined && endMs === Infinity)
        return [...passages, { step: current.name, atMs, endMs: null, how: "WAITING" }];
      nowMs = came?.atMs ?? endMs;
      sinceMs = nowMs;
      if (came !== undefined) usedMs.set(eventName, nowMs);
      branch = came === undefined ? "timeout" : "event";
    }
    passages.push({ step: current.name, atMs, endMs: nowMs, how: branch ?? how });
    if (current.type === "EXIT") return passages;
    const way = transitions.find((one) => one.fromStepId === current.id && one.branch === branch);
    step = steps.find(({ id }) => id === way?.toStepId);
  }
  return passages;
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
  const mails = await readMailPlans(database, { projectId, domains, templateIds: [template.body.id] });
  let contacts = 0;
  await fc.assert(
    fc.asyncProperty(drawing, async ({ steps, leaps, events, x, carried, subscribed }) => {
      const graph = draw(steps, leaps, template.body.id);
      const happening = events
        .map(({ name, afterMs }) => ({ name, atMs: START + afterMs }))
        .toSorted((one, other) => one.atMs - other.atMs);
      const expected = interpret(graph, { x, carried, subscribed, events: happening });
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
          workflow: { id: newId(), name: "Random", triggerEvent: null },
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
      const future = happening.map(({ name, atMs }): SimulatedEvent => ({
        name,
        at: new Date(atMs),
        data: {},
      }));
      await simulateExecution({
        execution: simulated,
        contact,
        events: future,
        mails,
        segments: new Map(),
        knownFields: [],
        vault: createWebhookVault(createSealer(APP_SECRET)),
        webhooks: {},
      });
      expect(pathOf(simulated)).toEqual(expected);
      const real = start();
      const sent = await liveThrough(real, happening);
      expect(pathOf(real)).toEqual(expected);
      expect(sent).toBe(
        expected.filter(
          ({ step, how }) =>
            how === "COMPLETED" && graph.steps.find(({ name }) => name === step)?.type === "SEND_EMAIL",
        ).length,
      );
    }),
    { numRuns: RUNS },
  );

  /**
   * Replays a history with database rows, one instant after the other.
   * @returns the number of emails in the outbox
   */
  async function liveThrough(
    execution: Execution,
    happening: ReadonlyArray<{ name: string; atMs: number }>,
  ): Promise<number> {
    const coming = [...happening];
    let nowMs = START;
    for (let turns = 0; turns < 100; turns++) {
      while (coming[0] !== undefined && coming[0].atMs <= nowMs) {
        const { name, atMs } = coming.shift() ?? { name: "", atMs: 0 };
        await server.rows(
          "insert into events (project_id, id, contact_id, name, created_at) values ($1, $2, $3, $4, $5)",
          projectId,
          newId(),
          execution.contactId,
          name,
          new Date(atMs),
        );
      }
      await transaction(database, (tx) =>
        walk(
          createDatabaseEnvironment(tx, {
            projectId,
            now: new Date(nowMs),
            domains,
            publicKeyLimits: NO_LIMITS,
            sealer: createSealer(APP_SECRET),
          }),
          [execution],
        ),
      );
      const awaited = coming.find(({ name }) => name === execution.waitsFor);
      const instants = [execution.dueAt?.getTime(), awaited?.atMs].filter((one) => one !== undefined);
      if (instants.length === 0) break;
      nowMs = Math.max(nowMs, Math.min(...instants));
    }
    const [{ count = 0 } = {}] = await server.rows<{ count: number }>(
      "select count(*)::int as count from emails where contact_id = $1",
      execution.contactId,
    );
    return count;
  }
});

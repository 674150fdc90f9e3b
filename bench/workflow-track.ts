// What callers of /v1/track notice of workflows: of a thousand that wait for other events, of one that listens, and of a worker that moves
// its executions on the same two cores.
import { sql } from "kysely";
import { BOOTSTRAP, startProgram } from "../e2e/program.ts";
import { waitUntil } from "../e2e/wait-until.ts";
import { transaction, type Database } from "../server/src/platform/database/database.ts";
import { subscribeWorkflows } from "../server/src/workflows/subscriptions.ts";
import { drawWorkflow, graphOf, type Drawing } from "../server/src/testing/workflow-fixture.ts";
import { percentileMs, perSecond, runLoad, type LoadResult } from "./load.ts";
import { addProject, openOutbox, type Outbox } from "./outbox.ts";
import { ADDRESS_NUMBER, ADDRESSES, makeRequest, NUMBER_DIGITS } from "./request.ts";
import { settingsOf, startDatabase, startOurs } from "./servers.ts";
import { oneDecimal, progress, whole } from "./table.ts";
import { onEvent } from "./workflow-ground.ts";

const EVENT = "order placed";
const CONNECTIONS = 256;
const OTHER_WORKFLOWS = 1_000;
const ROUNDS = 5;
const FIRST_WARM_UP_MS = 2_000;
const WARM_UP_MS = 300;
const MEASURE_MS = 1_200;
const NUMBERS_PER_RUN = 1_000_000;
const SETTLE_TIMEOUT_MS = 240_000;

const WAITS: Drawing = {
  steps: [
    ["start", "TRIGGER"],
    ["wait", "DELAY", { amount: 1, unit: "days" }],
    ["done", "EXIT"],
  ],
  links: [
    ["start", "wait"],
    ["wait", "done"],
  ],
};

const drawNothing = () => Promise.resolve();

/** Secret keys of projects, by what is true of their workflows; the first is what the others are compared with. */
type Keys = Readonly<Record<string, string>>;

export async function measureTracking(): Promise<string[][]> {
  const bench = await startDatabase();
  const outbox = await openOutbox(bench);
  const { database } = outbox;
  const draw = (projectId: string) =>
    drawWorkflow(database, projectId, { ...WAITS, trigger: onEvent(EVENT) }).then(() => undefined);
  try {
    progress("projects with workflows and without");
    const apart = await addProjects(outbox, {
      "no workflows": drawNothing,
      [`${whole(OTHER_WORKFLOWS)} on other events`]: (projectId) => drawOthers(database, projectId),
      "one that listens": draw,
    });
    const beside = await addProjects(outbox, {
      "no workflows, a worker beside": drawNothing,
      "one that listens, a worker beside": draw,
    });
    const { port, stop } = await startOurs(bench, { ROLES: "api" });
    try {
      const rows = await compare(port, apart, drawNothing);
      // Nobody took them; the worker would do so beside the first of the others.
      await sql`truncate event_reactions`.execute(database);
      const worker = await startProgram({ ...BOOTSTRAP, ...settingsOf(bench), ROLES: "worker" });
      try {
        return [...rows, ...(await compare(port, beside, () => waitUntilSettled(database)))];
      } finally {
        await worker.stop();
      }
    } finally {
      await stop();
    }
  } finally {
    await outbox.close();
    await bench.stop();
  }
}

async function addProjects(
  outbox: Outbox,
  drawn: Readonly<Record<string, (projectId: string) => Promise<void>>>,
): Promise<Keys> {
  const keys: Record<string, string> = {};
  for (const [name, draw] of Object.entries(drawn)) {
    const { id, secretKey } = await addProject(outbox, name);
    await sql`
      insert into contacts (project_id, id, email, subscribed, data)
      select ${id}::uuid, uuidv7(), 'person-' || lpad(n::text, ${NUMBER_DIGITS}::int, '0') || '@example.com', true, '{"plan": "pro"}'
      from generate_series(0, ${ADDRESSES - 1}::int) n`.execute(outbox.database);
    await draw(id);
    keys[name] = secretKey;
  }
  await sql`vacuum (analyze) contacts, workflows, event_subscriptions`.execute(outbox.database);
  return keys;
}

/** All at once: a thousand times `drawWorkflow` would subscribe a thousand times. */
async function drawOthers(database: Database, projectId: string): Promise<void> {
  const graph = JSON.stringify(graphOf(WAITS));
  await transaction(database, async (tx) => {
    await sql`
      with drawn as (
        insert into workflows (project_id, id, name, enabled, trigger_type, trigger_config, trigger_event)
        select ${projectId}::uuid, uuidv7(), 'Workflow ' || n, true, 'EVENT', jsonb_build_object('eventName', 'event ' || n), 'event ' || n
        from generate_series(1, ${OTHER_WORKFLOWS}::int) n returning id
      )
      insert into workflow_versions (project_id, workflow_id, version, graph)
      select ${projectId}::uuid, id, 1, ${graph}::jsonb from drawn`.execute(tx);
    await subscribeWorkflows(tx, projectId);
  });
}

/** In turn, each in several short runs, of which the middle one counts. */
async function compare(port: number, keys: Keys, settle: () => Promise<void>): Promise<string[][]> {
  const runs = new Map<string, LoadResult[]>(Object.keys(keys).map((name) => [name, []]));
  let number = 0;
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, key] of Object.entries(keys)) {
      progress(`${name}, run ${round + 1} of ${ROUNDS}`);
      const body = { email: `person-${ADDRESS_NUMBER}@example.com`, event: EVENT, data: { plan: "pro" } };
      const result = await runLoad({
        port,
        connections: CONNECTIONS,
        warmUpMs: round === 0 ? FIRST_WARM_UP_MS : WARM_UP_MS,
        measureMs: MEASURE_MS,
        request: makeRequest("/v1/track", key, body),
        firstNumber: NUMBERS_PER_RUN * number++,
      });
      runs.get(name)?.push(result);
      await settle();
    }
  const middles = [...runs].map(([name, all]) => [name, middleOf(all)] as const);
  const none = perSecond(middles[0]?.[1] ?? middleOf([]));
  return middles.map(([name, result]) => [
    name,
    whole(perSecond(result)),
    oneDecimal(percentileMs(result, 0.5)),
    oneDecimal(percentileMs(result, 0.99)),
    whole((100 * perSecond(result)) / none),
  ]);
}

function middleOf(runs: readonly LoadResult[]): LoadResult {
  const sorted = runs.toSorted((one, other) => perSecond(one) - perSecond(other));
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("There is no run to choose from.");
  return middle;
}

/** What one run made happen must not slow the next one. */
async function waitUntilSettled(database: Database): Promise<void> {
  await waitUntil("reactions and executions", SETTLE_TIMEOUT_MS, async () => {
    const { rows } = await sql<{ isBusy: boolean }>`
      select exists (select 1 from event_reactions) or
        exists (select 1 from workflow_executions where due_at <= now()) as is_busy`.execute(database);
    return rows[0]?.isBusy === false;
  });
}

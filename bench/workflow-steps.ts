// Runs executions of six steps in batches as the engine does, and one per transaction, and measures their disk space.
import { sql } from "kysely";
import {
  createDatabase,
  createPool,
  transaction,
  type Database,
} from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { recordEvents } from "../server/src/events/events.ts";
import { advanceDue } from "../server/src/workflows/executions/advance.ts";
import type { StepParts } from "../server/src/workflows/executions/database-environment.ts";
import { stepPartsOf } from "../server/src/testing/step-parts.ts";
import { react } from "../server/src/workflows/executions/react.ts";
import { startExecution } from "../server/src/workflows/executions/start-executions.ts";
import { growthOf, measureTables } from "./database-size.ts";
import { addContacts, addProject, openOutbox, unlimited, type Outbox } from "./outbox.ts";
import { APP_SECRET, startDatabase, type BenchDatabase } from "./servers.ts";
import { progress, whole } from "./table.ts";
import { drawSixSteps, EVENT, listContactIds, STEPS } from "./workflow-fixture.ts";

const EVENTS_AT_ONCE = 1_000;
/** Contacts enter in waves, so that later ones reuse the space of earlier ones. */
const WAVES = 4;
const WARM_UP = 1_000;
const NAIVE_CONNECTIONS = 8;

export interface StepsResult {
  way: string;
  executions: number;
  tookMs: number;
  /** Size of `workflow_executions` and `workflow_step_counts` with indexes in bytes; null if not measured. */
  bytes: { executions: number; counts: number } | null;
}

/** A variant of starting and continuing executions. */
interface Way {
  name: string;
  enter: (run: Run) => Promise<void>;
  advance: (run: Run) => Promise<void>;
}

interface Run {
  database: Database;
  parts: StepParts;
  projectId: string;
  workflowId: string;
  contactIds: readonly string[];
}

const IN_BATCHES: Way = {
  name: "in batches",
  async enter({ database, projectId }) {
    while (await react(database, projectId));
  },
  async advance({ database, parts, projectId }) {
    while ((await advanceDue(database, parts, projectId)) > 0);
  },
};

/** Fairer than one transaction per step: each execution runs until it waits. */
function oneByOne(connections: number): Way {
  const inTurn = (work: () => Promise<void>) =>
    Promise.all(Array.from({ length: connections }, work)).then(() => undefined);
  return {
    name: `one per transaction, ${connections === 1 ? "1 connection" : `${connections} connections`}`,
    async enter({ database, projectId, workflowId, contactIds }) {
      const waiting = contactIds.values();
      await inTurn(async () => {
        for (const contactId of waiting)
          await transaction(database, (tx) =>
            startExecution(tx, projectId, { workflowId, contactId, context: { plan: "pro" } }),
          );
      });
    },
    async advance({ database, parts, projectId }) {
      await inTurn(async () => {
        while ((await advanceDue(database, parts, projectId, 1)) > 0);
      });
    },
  };
}

/** Runs all variants on one database, each in its own project; the naive ones with `naive` executions. */
export async function measureSteps(executions: number, naive: number): Promise<StepsResult[]> {
  const bench = await startDatabase();
  const outbox = await openOutbox(bench);
  const database = createDatabase(
    createPool({
      connection: bench.connection,
      maxConnections: NAIVE_CONNECTIONS,
      log: createLog({ level: "silent" }),
    }),
  );
  try {
    const fixture = { bench, outbox, database, parts: stepPartsOf(database, APP_SECRET, false) };
    for (const way of [IN_BATCHES, oneByOne(1)]) await measureWay(fixture, way, WARM_UP);
    return [
      await measureWay(fixture, oneByOne(1), naive),
      await measureWay(fixture, oneByOne(NAIVE_CONNECTIONS), naive),
      await measureWay(fixture, IN_BATCHES, executions),
    ];
  } finally {
    await database.destroy();
    await outbox.close();
    await bench.stop();
  }
}

interface Fixture {
  bench: BenchDatabase;
  outbox: Outbox;
  database: Database;
  parts: StepParts;
}

/** Measures entry and steps, but neither the events before nor the simulated day. */
async function measureWay(fixture: Fixture, way: Way, executions: number): Promise<StepsResult> {
  const { outbox, database, parts } = fixture;
  progress(`${way.name}: ${whole(executions)} executions`);
  const { id: projectId } = await addProject(outbox, way.name);
  await addContacts(outbox, projectId, executions);
  const contactIds = await listContactIds(outbox.database, projectId, executions);
  const { id: workflowId } = await drawSixSteps(outbox.database, projectId);
  const before = await measureTables(outbox.database, projectId);
  let tookMs = 0;
  const atOnce = Math.ceil(executions / WAVES);
  for (let at = 0; at < executions; at += atOnce) {
    const run = { database, parts, projectId, workflowId, contactIds: contactIds.slice(at, at + atOnce) };
    if (way === IN_BATCHES) await recordAll(run);
    tookMs += await timeOf(async () => {
      await way.enter(run);
      await way.advance(run);
    });
    await letDayPass(outbox.database, projectId);
    tookMs += await timeOf(() => way.advance(run));
  }
  await check(outbox.database, projectId, executions);
  const after = await measureTables(outbox.database, projectId);
  const bytesOf = (table: string) => growthOf(table, before, after);
  const bytes = { executions: bytesOf("workflow_executions"), counts: bytesOf("workflow_step_counts") };
  return { way: way.name, executions, tookMs, bytes: way === IN_BATCHES ? bytes : null };
}

async function recordAll({ database, projectId, contactIds }: Run): Promise<void> {
  for (let at = 0; at < contactIds.length; at += EVENTS_AT_ONCE)
    await transaction(database, (tx) =>
      recordEvents(
        tx,
        contactIds
          .slice(at, at + EVENTS_AT_ONCE)
          .map((contactId) => ({ projectId, contactId, name: EVENT, data: { plan: "pro" } })),
      ),
    );
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Ends the delays. Vacuums before and after, as autovacuum would within a day. */
async function letDayPass(database: Database, projectId: string): Promise<void> {
  await unlimited(database, async (connection) => {
    await sql`vacuum (analyze) workflow_executions`.execute(connection);
    await sql`
      update workflow_executions set due_at = due_at - interval '1 day',
        trace = jsonb_set(trace, '{-1,until}', to_jsonb((trace -> -1 ->> 'until')::bigint - 86400000))
      where project_id = ${projectId} and due_at is not null`.execute(connection);
    await sql`vacuum workflow_executions`.execute(connection);
  });
}

/** @throws Error unless every execution ended with its two emails */
async function check(database: Database, projectId: string, executions: number): Promise<void> {
  const { rows } = await sql<{ ended: number; mails: number; steps: number }>`
    select (select count(*) from workflow_executions where project_id = ${projectId} and status = 'EXITED') as ended,
      (select count(*) from emails where project_id = ${projectId} and status = 'QUEUED') as mails,
      (select sum(passed)::int from workflow_step_counts where project_id = ${projectId}) as steps`.execute(
    database,
  );
  const { ended, mails, steps } = rows[0] ?? {};
  if (ended !== executions || mails !== 2 * executions || steps !== STEPS * executions)
    throw new Error(`the counts do not balance for ${executions} executions: ${JSON.stringify(rows[0])}`);
}

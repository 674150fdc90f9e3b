// How long the engine takes to find the executions that are due among very many that sleep.
import { sql } from "kysely";
import { transaction, type Database } from "../server/src/platform/database/database.ts";
import { BATCH_SIZE } from "../server/src/workflows/executions/advance.ts";
import { findDue } from "../server/src/workflows/executions/engine.ts";
import { claimExecutions } from "../server/src/workflows/executions/load-executions.ts";
import { openOutbox, unlimited } from "./outbox.ts";
import { ADDRESSES } from "./request.ts";
import { startDatabase } from "./servers.ts";
import { progress, whole } from "./table.ts";
import { drawSixSteps } from "./workflow-ground.ts";

const REPEATS = 30;

export interface SleepersResult {
  /** Executions that are due. */
  due: number;
  /** Of each claim, and of each look at which projects have executions that are due, ms. */
  claims: number[];
  looks: number[];
}

export async function measureSleepers(sleeping: number): Promise<SleepersResult> {
  const bench = await startDatabase();
  const { database, projectId, close } = await openOutbox(bench);
  try {
    for (let left = sleeping; left > 0; left -= ADDRESSES) {
      progress(`${whole(sleeping - left)} of ${whole(sleeping)} sleep`);
      await addSleepers(database, projectId, Math.min(left, ADDRESSES));
    }
    await sql`vacuum (analyze) workflow_executions`.execute(database);
    await wakeSome(database, projectId, BATCH_SIZE);
    const claims: number[] = [];
    const looks: number[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      looks.push(await timeOf(() => findDue(database)));
      claims.push(await timeOfClaim(database, projectId));
    }
    return { due: BATCH_SIZE, claims, looks };
  } finally {
    await close();
    await bench.stop();
  }
}

/** Each contact in an execution of a workflow of its own, somewhere in a delay that ends within a month. */
async function addSleepers(database: Database, projectId: string, count: number): Promise<void> {
  const workflow = await drawSixSteps(database, projectId);
  const trace = JSON.stringify([
    { n: 0, at: 0 },
    { n: 1, out: { emailId: workflow.id } },
    { n: 2, at: 0, until: 0 },
  ]);
  await unlimited(database, async (connection) => {
    await sql`
      insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status, step_id, due_at, trace)
      select project_id, uuidv7(), ${workflow.id}, id, 0, 1, 'WAITING', ${workflow.step("wait")},
        now() + interval '1 hour' + random() * interval '30 days', ${trace}::jsonb
      from contacts where project_id = ${projectId} order by id limit ${count}`.execute(connection);
  });
}

/** Any of them: they lie far apart in the table. */
async function wakeSome(database: Database, projectId: string, count: number): Promise<void> {
  await sql`
    update workflow_executions set due_at = now() where project_id = ${projectId} and id in (
      select id from workflow_executions where project_id = ${projectId} order by due_at limit ${count})`.execute(
    database,
  );
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** A claim that nothing comes of: they are due again the next time. */
async function timeOfClaim(database: Database, projectId: string): Promise<number> {
  const undone = new Error("undone");
  let tookMs = 0;
  await transaction(database, async (tx) => {
    let claimed = 0;
    tookMs = await timeOf(async () => {
      claimed = (await claimExecutions(tx, projectId, { limit: BATCH_SIZE })).length;
    });
    if (claimed !== BATCH_SIZE) throw new Error(`${claimed} were due`);
    throw undone;
  }).catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return tookMs;
}

// What a project notices of another one whose workflow very many contacts have just entered: from an event to the mail of its first step.
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { createApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, startProgram } from "../e2e/program.ts";
import type { Database } from "../server/src/platform/database/database.ts";
import { drawWorkflow } from "../server/src/testing/workflow-fixture.ts";
import { addContacts, addProject, openOutbox, unlimited } from "./outbox.ts";
import { NUMBER_DIGITS } from "./request.ts";
import { settingsOf, startDatabase } from "./servers.ts";
import { progress, whole } from "./table.ts";
import { drawSixSteps, EVENT } from "./workflow-ground.ts";

const EVENTS = 50;
const LOOK_EVERY_MS = 5;
const TIMEOUT_MS = 60_000;

export interface FairnessResult {
  /** From before the request until its mail was queued, ms. */
  waits: number[];
  /** Executions of the crowd that had not taken their first step when the first event came, and when the last had been answered. */
  crowd: { before: number; after: number };
}

export async function measureFairness(entries: number): Promise<FairnessResult> {
  const bench = await startDatabase();
  const outbox = await openOutbox(bench);
  const { database, projectId } = outbox;
  try {
    await drawSixSteps(database, projectId, "news@sandbox.localhost");
    const crowd = await addProject(outbox, "crowd");
    await addContacts(outbox, crowd.id, entries);
    await enterAll(database, crowd.id);
    const settings = { ...BOOTSTRAP, ...settingsOf(bench), MAIL_TRANSPORT: "mailbox" };
    const worker = await startProgram({ ...settings, ROLES: "worker" });
    const answering = await startProgram({ ...settings, ROLES: "api" });
    try {
      progress(`one event after the other, beside ${whole(entries)} that enter`);
      const api = createApiClient(answering.url);
      const before = await countDue(database, crowd.id);
      const waits: number[] = [];
      for (let number = 0; number < EVENTS; number++) {
        const email = `person-${String(number).padStart(NUMBER_DIGITS, "0")}@example.com`;
        const startedMs = performance.now();
        await api.post("/v1/track", { email, event: EVENT });
        await waitForMails(database, projectId, number + 1);
        waits.push(performance.now() - startedMs);
      }
      return { waits, crowd: { before, after: await countDue(database, crowd.id) } };
    } finally {
      await answering.stop();
      await worker.stop();
    }
  } finally {
    await outbox.close();
    await bench.stop();
  }
}

/** Everybody stands before the first step and is due, as when all have entered at once. */
async function enterAll(database: Database, projectId: string): Promise<void> {
  const workflow = await drawWorkflow(database, projectId, {
    steps: [
      ["start", "TRIGGER"],
      ["mark", "UPDATE_CONTACT", { updates: { entered: true } }],
      ["wait", "DELAY", { amount: 1, unit: "days" }],
    ],
    links: [
      ["start", "mark"],
      ["mark", "wait"],
    ],
  });
  await unlimited(database, async (connection) => {
    await sql`
      insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, step_id, due_at)
      select project_id, uuidv7(), ${workflow.id}::uuid, id, 0, 1, ${workflow.step("start")}::uuid, now()
      from contacts where project_id = ${projectId}`.execute(connection);
    await sql`vacuum (analyze) workflow_executions`.execute(connection);
  });
}

async function countDue(database: Database, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflow_executions where project_id = ${projectId} and due_at <= now()`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

async function waitForMails(database: Database, projectId: string, count: number): Promise<void> {
  const sinceMs = performance.now();
  for (;;) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from emails where project_id = ${projectId}`.execute(database);
    if ((rows[0]?.count ?? 0) >= count) return;
    if (performance.now() - sinceMs > TIMEOUT_MS) throw new Error(`mail ${count} was not queued`);
    await delay(LOOK_EVERY_MS);
  }
}

// Shared setup of the workflow benchmarks: the email template, one workflow with six steps, and contacts to enter it.
import { sql } from "kysely";
import type { Database } from "../server/src/platform/database/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { drawWorkflow, type DrawnWorkflow } from "../server/src/testing/workflow-fixture.ts";
import { HTML, SUBJECT } from "./content.ts";
import { SENDER_DOMAIN } from "./outbox.ts";

/** Steps of the workflow from `drawSixSteps`. */
export const STEPS = 6;
export const EVENT = "signed up";

const onEvent = (eventName: string) => ({
  type: "EVENT" as const,
  config: { eventName },
  event: eventName,
});

/** Adds a transactional template of 20 KB with 6 variables. */
async function addTemplate(database: Database, projectId: string, sender: string): Promise<string> {
  const id = newId();
  await sql`
    insert into templates (project_id, id, name, type, subject, body, from_address)
    values (${projectId}, ${id}, 'News', 'TRANSACTIONAL', ${SUBJECT}, ${HTML}, ${sender})`.execute(database);
  return id;
}

/** Creates a workflow with trigger, email, delay, condition, email and exit. */
export async function drawSixSteps(
  database: Database,
  projectId: string,
  sender = `news@${SENDER_DOMAIN}`,
): Promise<DrawnWorkflow> {
  const templateId = await addTemplate(database, projectId, sender);
  return drawWorkflow(database, projectId, {
    steps: [
      ["start", "TRIGGER"],
      ["welcome", "SEND_EMAIL", { templateId }],
      ["wait", "DELAY", { amount: 1, unit: "days" }],
      ["near?", "CONDITION", { field: "data.city", operator: "equals", value: "London" }],
      ["offer", "SEND_EMAIL", { templateId }],
      ["done", "EXIT", { reason: "Offered." }],
    ],
    links: [
      ["start", "welcome"],
      ["welcome", "wait"],
      ["wait", "near?"],
      ["near?", "offer", "yes"],
      ["near?", "done", "no"],
      ["offer", "done"],
    ],
    trigger: onEvent(EVENT),
  });
}

/** Returns the project's first `limit` contacts. */
export async function listContactIds(
  database: Database,
  projectId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from contacts where project_id = ${projectId} order by id limit ${limit}`.execute(database);
  return rows.map((row) => row.id);
}

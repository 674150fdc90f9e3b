// Kills every program while the dates of contacts come. Each contact enters once, not before its date, and gets one email.
import { setTimeout as delay } from "node:timers/promises";
import { addressOf, startEnvironment, type Environment } from "./environment.ts";
import type { FaultCase, FaultRow, FaultRun } from "./fault-case.ts";
import { faultsOfPrograms } from "./oracle.ts";
import { addMail, addWorkflow, countOf, faultsOfMails, rowOf, start, waitForAll } from "./workflow-scenes.ts";

const PEOPLE = { small: 600, large: 20_000 };
const KILLS = { small: 6, large: 20 };
/** The first date comes when all contacts are stored, and the last one after the last kill. */
const FIRST_MS = { small: 20_000, large: 180_000 };
const SPAN_MS = { small: 60_000, large: 300_000 };
const BATCH = 100;
const CONNECTIONS = 4;

export const dateTriggers: FaultCase = {
  name: "date-triggers",
  shows: "kills of all programs while contacts enter a workflow at their dates; each enters once, none early",
  run: async (run) => [await play(run)],
};

async function play({ size, random }: FaultRun): Promise<FaultRow> {
  const people = PEOPLE[size];
  const kills = KILLS[size];
  const environment = await startEnvironment({ connections: CONNECTIONS });
  try {
    await environment.start();
    const mail = await addMail(environment);
    const workflowId = await addWorkflow(environment, {
      trigger: { triggerType: "DATE", triggerConfig: { dateField: "data.due" } },
      steps: [start, mail("reminder")],
      links: [["start", "reminder"]],
    });
    const firstMs = Date.now() + FIRST_MS[size];
    await storeDates(environment, people, () => new Date(firstMs + random() * SPAN_MS[size]));
    await delay(firstMs - Date.now());
    for (let kill = 1; kill <= kills; kill++) {
      await delay((random() * 2 * SPAN_MS[size]) / kills / 1.2);
      await environment.killAll();
      await Promise.all([environment.start(), environment.start()]);
    }
    await waitForAll(environment, workflowId, people);
    const early = await countOf(
      environment,
      `workflow_executions x join contacts c on c.id = x.contact_id
       where x.workflow_id = $1 and x.started_at < (c.data ->> 'due')::timestamptz`,
      workflowId,
    );
    const entries = await countOf(environment, "workflow_executions where workflow_id = $1", workflowId);
    return await rowOf(environment, `dates, ${kills} kills`, [
      ...(early === 0 ? [] : [`${early} entered before their date`]),
      ...(entries === people ? [] : [`${entries} executions of ${people} contacts`]),
      ...(await faultsOfMails(environment, { people, each: 1, mayBeInDoubt: kills * CONNECTIONS })),
      ...faultsOfPrograms(environment),
    ]);
  } finally {
    await environment.close();
  }
}

/** Creates contacts with a date each. */
async function storeDates(environment: Environment, people: number, dateOf: () => Date): Promise<void> {
  for (let from = 0; from < people; from += BATCH)
    await Promise.all(
      Array.from({ length: Math.min(BATCH, people - from) }, (_, at) =>
        environment.insist("/contacts", {
          email: addressOf(from + at),
          data: { name: `Person ${from + at}`, due: dateOf().toISOString() },
        }),
      ),
    );
}

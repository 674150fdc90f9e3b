// From a tracked event to the mail of the first step in the local mailbox: one process takes the event, another one does the rest.
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { createApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, startProgram } from "../e2e/program.ts";
import type { Database } from "../server/src/platform/database/database.ts";
import { openOutbox } from "./outbox.ts";
import { NUMBER_DIGITS } from "./request.ts";
import { settingsOf, startDatabase } from "./servers.ts";
import { progress } from "./table.ts";
import { drawSixSteps, EVENT } from "./workflow-ground.ts";

/** Whose mails stay in the mailbox without a proof. */
const MAILBOX_SENDER = "news@sandbox.localhost";
const EVENTS = 200;
/** Code that is not compiled yet, connections that are not made yet. */
const WARM_UP = 10;
/** So that each event finds everybody waiting. */
const PAUSE_MS = 100;
const LOOK_EVERY_MS = 2;
const TIMEOUT_MS = 30_000;

/** @returns how long each took, from before the request until its mail was seen, ms */
export async function measureMails(): Promise<number[]> {
  const bench = await startDatabase();
  const { database, projectId, close } = await openOutbox(bench);
  try {
    await drawSixSteps(database, projectId, MAILBOX_SENDER);
    const settings = { ...BOOTSTRAP, ...settingsOf(bench), MAIL_TRANSPORT: "mailbox" };
    const worker = await startProgram({ ...settings, ROLES: "worker" });
    const answering = await startProgram({ ...settings, ROLES: "api" });
    try {
      progress("one event after the other");
      const api = createApiClient(answering.url);
      const waits: number[] = [];
      for (let number = 0; number < WARM_UP + EVENTS; number++) {
        const email = `person-${String(number).padStart(NUMBER_DIGITS, "0")}@example.com`;
        const startedMs = performance.now();
        await api.post("/v1/track", { email, event: EVENT });
        await waitForMails(database, number + 1, startedMs);
        waits.push(performance.now() - startedMs);
        await delay(PAUSE_MS);
      }
      return waits.slice(WARM_UP);
    } finally {
      await answering.stop();
      await worker.stop();
    }
  } finally {
    await close();
    await bench.stop();
  }
}

async function waitForMails(database: Database, count: number, startedMs: number): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from mailbox_messages`.execute(
      database,
    );
    if ((rows[0]?.count ?? 0) >= count) return;
    if (performance.now() - startedMs > TIMEOUT_MS) throw new Error(`mail ${count} did not come`);
    await delay(LOOK_EVERY_MS);
  }
}

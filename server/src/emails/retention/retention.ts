// Redacts the contents and recipients of emails after the project's retention, if it has one
// (docs/decisions/0094-email-retention.md). The fact that they were sent, the time and the reports stay.
import { startLoop, type Loop } from "../../platform/background/background.ts";
import { now } from "../../platform/clock.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { takeTurns } from "../../platform/background/project-turns.ts";
import { recheckKeptLonger } from "./kept-longer.ts";
import { passContents } from "./pass-contents.ts";
import { passMails } from "./pass-mails.ts";
import { deleteRetention, listRetentions, lockRetention, upsertRetention } from "./retention-queries.ts";

const BATCH_SIZE = 2_000;
const EVERY_MS = 60 * 60_000;

/** Sets how many days a project keeps contents and recipients. Null keeps them permanently. */
export async function changeEmailRetention(tx: Tx, projectId: string, days: number | null): Promise<void> {
  if (days === null) await deleteRetention(tx, projectId);
  else await upsertRetention(tx, projectId, days);
}

export { findRetentionDays, listRetentions } from "./retention-queries.ts";

interface Run {
  batchSize?: number;
  /** The time to evaluate the retention at. Defaults to now. */
  at?: Date;
  signal?: AbortSignal;
}

/**
 * Redacts expired emails and contents in batches.
 * @returns whether there is more
 */
export async function redactExpired(
  database: Database,
  { batchSize = BATCH_SIZE, at = now(), signal }: Run = {},
): Promise<boolean> {
  return takeTurns({
    listProjects: (after, limit) => listRetentions(database, after, limit),
    runBatch: (projectId) =>
      transaction(database, async (tx) => {
        const retention = await lockRetention(tx, projectId);
        if (retention === undefined) return false;
        // Contents come last because they follow their emails.
        for (const step of [passMails, recheckKeptLonger, passContents])
          if (await step(tx, { ...retention, at }, batchSize)) return true;
        return false;
      }),
    signal,
  });
}

/** Starts the background loop that redacts old emails. */
export function startRedactingEmails({
  database,
  log,
  metrics,
}: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: "retention of emails",
    async runOnce(signal) {
      if (await redactExpired(database, { signal })) return 0;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}

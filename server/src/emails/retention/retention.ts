// How long what mails said and to whom is kept: for ever, or for so many days (docs/decisions/0094-mails-that-are-forgotten.md). That they
// were sent, when, and what came back stays.
import { startLoop, type Loop } from "../../platform/background.ts";
import { now } from "../../platform/clock.ts";
import { transaction, type Database, type Tx } from "../../platform/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { takeTurns } from "../../platform/project-turns.ts";
import { lookAgain } from "./kept-longer.ts";
import { passContents } from "./pass-contents.ts";
import { passMails } from "./pass-mails.ts";
import { deleteRetention, listRetentions, lockRetention, upsertRetention } from "./retention-queries.ts";

const BATCH_SIZE = 2_000;
const EVERY_MS = 60 * 60_000;

/** Says how long a project keeps what its mails say and to whom; null: for ever. */
export async function changeEmailRetention(tx: Tx, projectId: string, days: number | null): Promise<void> {
  if (days === null) await deleteRetention(tx, projectId);
  else await upsertRetention(tx, projectId, days);
}

interface Run {
  batchSize?: number;
  /** As of when; now unless it is said. */
  at?: Date;
  signal?: AbortSignal;
}

/**
 * Forgets what is too old, in batches.
 *
 * @returns whether there is more
 */
export async function forgetOld(
  database: Database,
  { batchSize = BATCH_SIZE, at = now(), signal }: Run = {},
): Promise<boolean> {
  return takeTurns({
    listProjects: (after, limit) => listRetentions(database, after, limit),
    runBatch: (projectId) =>
      transaction(database, async (tx) => {
        const retention = await lockRetention(tx, projectId);
        if (retention === undefined) return false;
        // Contents last: they go behind their mails.
        for (const step of [passMails, lookAgain, passContents])
          if (await step(tx, { ...retention, at }, batchSize)) return true;
        return false;
      }),
    signal,
  });
}

/** Forgets old mails in the background, for as long as it runs. */
export function startForgettingEmails({
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
      if (await forgetOld(database, { signal })) return 0;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}

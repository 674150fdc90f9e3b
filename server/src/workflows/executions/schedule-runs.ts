// Runs due SCHEDULE triggers by the database's clock. If several runs were missed during downtime, a single run makes up for them.
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { startLoop, type Loop } from "../../platform/background/background.ts";
import { transaction, type Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { nextRunAfter } from "../schedule.ts";
import { claimScheduled, updateNextRun } from "./entry-queries.ts";
import { startForAudience } from "./start-executions.ts";

const POLL_MS = 10_000;
const BATCH_SIZE = 50;

/**
 * Queues the entries of due schedules.
 * @returns the number of due schedules, `BATCH_SIZE` if there may be more
 */
async function runSchedules(database: Database): Promise<number> {
  return transaction(database, async (tx) => {
    const due = await claimScheduled(tx, BATCH_SIZE);
    for (const { projectId, id: workflowId, triggerConfig: config, nextRunAt: at, now } of due) {
      const {
        cron,
        timezone,
        audienceType,
        segmentId = null,
        audienceFilter = null,
      } = config as TriggerConfig<"SCHEDULE">;
      const audience = { audienceType, segmentId, audienceFilter };
      await startForAudience(tx, projectId, {
        workflowId,
        audience,
        context: { scheduledAt: at.toISOString() },
      });
      await updateNextRun(
        tx,
        projectId,
        workflowId,
        nextRunAfter({ cron, ...(timezone && { timezone }) }, now),
      );
    }
    return due.length;
  });
}

export function startSchedules(options: { database: Database; log: Log; metrics: Metrics }): Loop {
  const { database, log, metrics } = options;
  return startLoop({
    name: "workflow schedules",
    runOnce: async () => ((await runSchedules(database)) === BATCH_SIZE ? 0 : POLL_MS),
    everyMs: POLL_MS,
    log,
    metrics,
  });
}

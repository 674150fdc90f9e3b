// The engine: reacts to events and moves on the executions that are due, a project at a time.
import { startLoop, type Loop } from "../../platform/background/background.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { listProjectsWithReactions } from "../../reactions/reactions.ts";
import { advanceDue, BATCH_SIZE } from "./advance.ts";
import type { StepParts } from "./database-world.ts";
import { listDueProjects, updateLeftExecutionsDue } from "./execution-queries.ts";
import { react } from "./react.ts";

/** How long a loop that nothing notifies takes to find work of a process that died; timers within it are waited for exactly. */
const POLL_MS = 4_000;
const LEFT_POLL_MS = 5_000;

export interface EngineParts extends StepParts {
  database: Database;
  log: Log;
  metrics: Metrics;
}

/** Projects that have executions due now, those overdue longest first; and in how many ms the next one elsewhere is due, `POLL_MS` at most. */
export async function findDue(database: Database): Promise<{ projectIds: string[]; nextInMs: number }> {
  const rows = await listDueProjects(database, POLL_MS);
  const waits = rows.map((row) => row.inMs).filter((ms) => ms > 0);
  return {
    projectIds: rows.filter((row) => row.inMs === 0).map((row) => row.projectId),
    nextInMs: Math.ceil(Math.min(POLL_MS, ...waits)),
  };
}

/** Reacts to events and moves what is due, fair between projects, until it is stopped. */
export function startEngine(parts: EngineParts): Loop {
  const { database, log, metrics } = parts;

  /** One turn of a project: a batch. A fault stops this project alone. @returns whether there may be more */
  async function turn(projectId: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: error, projectId }, "workflows of a project could not go on; it is tried again");
      return false;
    }
  }

  const reactOnce = (projectId: string) => turn(projectId, () => react(database, projectId));
  const advanceOnce = (projectId: string) =>
    turn(projectId, async () => {
      const moved = await advanceDue(database, parts, projectId, BATCH_SIZE, (error, executionId) =>
        log.error({ err: error, projectId, executionId }, "a step of a workflow failed"),
      );
      metrics.executionsMoved.inc(moved);
      return moved > 0;
    });

  async function runOnce(signal: AbortSignal): Promise<number> {
    let hasMore = false;
    for (const projectId of await listProjectsWithReactions(database, "workflows")) {
      if (signal.aborted) return 0;
      hasMore = (await reactOnce(projectId)) || hasMore;
    }
    const { projectIds, nextInMs } = await findDue(database);
    for (const projectId of projectIds) {
      if (signal.aborted) return 0;
      hasMore = (await advanceOnce(projectId)) || hasMore;
    }
    return hasMore ? 0 : nextInMs;
  }

  const common = { log, metrics };
  const loops = [
    startLoop({
      name: "workflows",
      runOnce,
      everyMs: POLL_MS,
      notifiedBy: { database, topic: "workflows" },
      ...common,
    }),
    startLoop({
      name: "workflows of deleted contacts",
      runOnce: () => updateLeftExecutionsDue(database),
      everyMs: LEFT_POLL_MS,
      ...common,
    }),
  ];
  return {
    wake: () => loops[0]?.wake(),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

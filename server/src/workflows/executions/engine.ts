// Runs workflows. Processes events and advances due executions, one project at a time.
import { startLoop, type Loop } from "../../platform/background/background.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { listProjectsWithReactions } from "../../reactions/reactions.ts";
import { advanceDue, BATCH_SIZE } from "./advance.ts";
import type { StepParts } from "./database-environment.ts";
import { listDueProjects, updateLeftExecutionsDue } from "./execution-queries.ts";
import { react } from "./react.ts";

/** How long a loop takes to find the work of a crashed process. Timers within this interval are exact. */
const POLL_MS = 4_000;
const ORPHAN_POLL_MS = 5_000;

export interface EngineDependencies extends StepParts {
  database: Database;
  log: Log;
  metrics: Metrics;
}

/** Returns the projects with due executions, longest overdue first, and the ms until the next one is due elsewhere, at most `POLL_MS`. */
async function findDue(database: Database): Promise<{ projectIds: string[]; nextInMs: number }> {
  const rows = await listDueProjects(database, POLL_MS);
  const waits = rows.map((row) => row.inMs).filter((ms) => ms > 0);
  return {
    projectIds: rows.filter((row) => row.inMs === 0).map((row) => row.projectId),
    nextInMs: Math.ceil(Math.min(POLL_MS, ...waits)),
  };
}

/** Processes events and advances due executions, fairly between projects, until it is stopped. */
export function startEngine(deps: EngineDependencies): Loop {
  const { database, log, metrics } = deps;

  /**
   * Runs one batch of a project. An error stops only this project.
   * @returns whether there may be more
   */
  async function turn(projectId: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: error, projectId }, "workflows of a project failed, retrying");
      return false;
    }
  }

  const reactOnce = (projectId: string) => turn(projectId, () => react(database, projectId));
  const advanceOnce = (projectId: string) =>
    turn(projectId, async () => {
      const moved = await advanceDue(database, deps, projectId, BATCH_SIZE, (error, executionId) =>
        log.error({ err: error, projectId, executionId }, "workflow step failed"),
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
      everyMs: ORPHAN_POLL_MS,
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

// The engine: takes executions that are due, a project at a time, and moves a batch of them on in one transaction, with everything
// that follows from it. A row stays locked while it is moved, so no lease is needed: who dies in between has done nothing.
// Before it: worker.ts starts it; reactions, timers and people make executions due. After it: walk.ts, and the outbox.
import { startLoop, type Loop } from "../../platform/background.ts";
import { asUnavailable, transaction, type Database, type Tx } from "../../platform/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { Refusal } from "../../platform/refusal.ts";
import { listProjectsWithReactions } from "../../reactions/reactions.ts";
import type { Domains } from "../../domains/domains.ts";
import { contactRefusal } from "../../contacts/contacts.ts";
import { createDatabaseWorld } from "./database-world.ts";
import type { Execution } from "./execution.ts";
import {
  addToStepCounts,
  listDueExecutions,
  listDueProjects,
  updateExecutions,
  wakeLeftExecutions,
  type WhichDue,
} from "./execution-queries.ts";
import { claimExecutions } from "./load-executions.ts";
import { react } from "./react.ts";
import { packTrace } from "./stored-trace.ts";
import { cancelAt, failAt, walk, type Tally } from "./walk.ts";

/** Executions moved in one transaction. */
export const BATCH_SIZE = 500;
/** How long a loop that nobody wakes takes to find work of a process that died; timers within it are waited for exactly. */
const POLL_MS = 4_000;
const LEFT_POLL_MS = 5_000;

export interface EngineParts {
  database: Database;
  domains: Domains;
  /** Mails were put into the outbox. */
  wakeSender: () => void;
  /** Calls of webhooks were queued. */
  wakeWebhooks: () => void;
  log: Log;
  metrics: Metrics;
}

interface Advance {
  /** Executions. */
  moved: number;
  /** Whether mails were enqueued, and calls queued. */
  hasMails: boolean;
  hasCalls: boolean;
}

/**
 * Moves the executions of one project that are due, one batch of them. What keeps one from being stored (data of its contact that
 * would be too large, a fault of ours) fails that one alone: then they are moved one by one.
 *
 * @param onFault hears of faults that only we can mend
 */
export async function advanceDue(
  database: Database,
  domains: Domains,
  projectId: string,
  limit = BATCH_SIZE,
  onFault: (error: unknown, executionId: string) => void = () => undefined,
): Promise<Advance> {
  const moved = await transaction(database, (tx) => advanceBatch(tx, domains, projectId, { limit })).catch(
    (error: unknown) => {
      if (isAway(error)) throw error;
      return advanceApart(database, domains, projectId, limit, onFault);
    },
  );
  if (moved.moved > 0) await failpoint("workflow.after_commit");
  return moved;
}

const isAway = (error: unknown) => asUnavailable(error) instanceof Refusal;

async function advanceApart(
  database: Database,
  domains: Domains,
  projectId: string,
  limit: number,
  onFault: (error: unknown, executionId: string) => void,
): Promise<Advance> {
  const total = { ...NOTHING };
  for (const id of await listDueExecutions(database, projectId, limit)) {
    const one = await transaction(database, (tx) =>
      advanceBatch(tx, domains, projectId, { limit: 1, id }),
    ).catch(async (error: unknown) => {
      if (isAway(error)) throw error;
      const refusal = contactRefusal(error);
      if (refusal === null) onFault(error, id);
      const reason = refusal?.fields?.[0]?.message ?? refusal?.message ?? OUR_FAULT;
      return transaction(database, (tx) => failBatch(tx, projectId, { limit: 1, id }, reason));
    });
    total.moved += one.moved;
    total.hasMails ||= one.hasMails;
    total.hasCalls ||= one.hasCalls;
  }
  return total;
}

const OUR_FAULT = "The step failed for a reason of ours; it is in the log. Try it again.";
const NOTHING: Advance = { moved: 0, hasMails: false, hasCalls: false };

/** Fails executions at the step at which they stand. */
async function failBatch(tx: Tx, projectId: string, which: WhichDue, reason: string): Promise<Advance> {
  const claimed = await claimExecutions(tx, projectId, which);
  const tally: Tally = new Map();
  for (const { execution, now } of claimed) failAt(execution, reason, now, tally);
  await store(
    tx,
    projectId,
    claimed.map(({ execution }) => execution),
    tally,
  );
  return { ...NOTHING, moved: claimed.length };
}

async function advanceBatch(tx: Tx, domains: Domains, projectId: string, which: WhichDue): Promise<Advance> {
  const executions = await claimExecutions(tx, projectId, which);
  const [first] = executions;
  if (first === undefined) return NOTHING;
  await failpoint("workflow.claimed");
  const world = createDatabaseWorld(tx, { projectId, now: first.now, domains });
  const before = new Map(executions.map(({ execution }) => [execution, execution.trace.length]));
  const going = executions.flatMap(({ execution, cancelled }) => (cancelled === null ? [execution] : []));
  const tally = await walk(world, going);
  for (const { execution, cancelled } of executions)
    if (cancelled !== null) cancelAt(execution, cancelled, first.now, tally);
  await store(
    tx,
    projectId,
    executions.map(({ execution }) => execution),
    tally,
  );
  await failpoint("workflow.before_commit");
  const made = going.flatMap((execution) =>
    execution.trace.slice(Math.max(0, (before.get(execution) ?? 0) - 1)),
  );
  return {
    moved: executions.length,
    hasMails: made.some(({ out }) => out?.["emailId"] !== undefined),
    hasCalls: made.some(({ out, end }) => end === undefined && out?.["callId"] !== undefined),
  };
}

async function store(
  tx: Tx,
  projectId: string,
  executions: readonly Execution[],
  tally: Tally,
): Promise<void> {
  await updateExecutions(
    tx,
    projectId,
    executions.map((execution) => ({
      id: execution.id,
      status: execution.status,
      stepId: execution.stepId,
      dueAt: execution.dueAt,
      waitsFor: execution.waitsFor,
      results: Object.keys(execution.results).length === 0 ? null : JSON.stringify(execution.results),
      trace: packTrace(execution.trace),
      exitReason: execution.exitReason,
    })),
  );
  const counts = [...tally].flatMap(([workflowId, steps]) =>
    [...steps].map(([stepId, count]) => ({ workflowId, stepId, ...count })),
  );
  if (counts.length > 0) await addToStepCounts(tx, projectId, counts);
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
  const { database, domains, log, metrics } = parts;

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
      const { moved, hasMails, hasCalls } = await advanceDue(
        database,
        domains,
        projectId,
        BATCH_SIZE,
        (error, executionId) =>
          log.error({ err: error, projectId, executionId }, "a step of a workflow failed"),
      );
      metrics.executionsMoved.inc(moved);
      if (hasMails) parts.wakeSender();
      if (hasCalls) parts.wakeWebhooks();
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
    startLoop({ name: "workflows", runOnce, everyMs: POLL_MS, ...common }),
    startLoop({
      name: "workflows of deleted contacts",
      runOnce: async () => {
        if ((await wakeLeftExecutions(database)) > 0) loops[0]?.wake();
      },
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

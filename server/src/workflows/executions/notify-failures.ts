// Notifies members of failed executions and automatic pauses: the first failure immediately, then at most once a day for each workflow.
import { startLoop, type Loop } from "../../platform/background/background.ts";
import { now } from "../../platform/clock.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { nameForStrangers } from "../../emails/platform-email/name-for-strangers.ts";
import type { FailedWorkflow } from "../../projects/members/notification-facts.ts";
import { notificationMail } from "../../projects/members/notification-mails.ts";
import { notifyMembers, takeDue } from "../../projects/members/notifications.ts";
import { recordProjectEvents } from "../../reactions/reactions.ts";
import { workflowEvent } from "../workflow-events.ts";
import { stepOf, type Execution } from "./execution.ts";
import { findLastFailure, listDueDigests } from "./failure-queries.ts";
import type { AutomaticPause } from "./pause-failing.ts";

const KIND = "workflow-failed";
const POLL_MS = 10 * 60_000;
const AT_ONCE = 50;
const DIGEST_HOURS = 24;

/** Which workflow of which project. */
interface Failing {
  projectId: string;
  workflowId: string;
}

const digestsSince = () => new Date(now().getTime() - DIGEST_HOURS * 3_600_000);

/** Records automatic pauses and failed executions in the event stream of the project. */
async function recordFailures(
  tx: Tx,
  projectId: string,
  { failed, pauses }: { failed: readonly Execution[]; pauses: readonly AutomaticPause[] },
): Promise<void> {
  await recordProjectEvents(tx, [
    ...pauses.map(({ workflow, reason }) =>
      workflowEvent(projectId, "workflow.paused", workflow, { reason }),
    ),
    ...failed.flatMap((execution) => {
      const { id, workflow, contactId, exitReason } = execution;
      if (contactId === null) return [];
      const step = stepOf(execution);
      const facts = {
        executionId: id,
        step: step === undefined ? null : { id: step.id, name: step.name },
        error: exitReason,
      };
      return [{ ...workflowEvent(projectId, "workflow.failed", workflow, facts), contactId }];
    }),
  ]);
}

/**
 * Records failed executions and automatic pauses. Notifies the members of workflows that paused, and of those that failed for the first time
 * within a day.
 */
export async function notifyFailures(
  tx: Tx,
  { baseUrl }: { baseUrl: () => string },
  {
    projectId,
    executions,
    pauses,
  }: { projectId: string; executions: readonly Execution[]; pauses: readonly AutomaticPause[] },
): Promise<void> {
  const failed = executions.filter(({ status }) => status === "FAILED");
  await recordFailures(tx, projectId, { failed, pauses });
  for (const { workflow, reason } of pauses) {
    const { stepName: step, contacts: count, error } = reason;
    const facts = { name: workflow.name, count, step, error, isPaused: true };
    await takeDue(tx, { projectIds: [projectId], kind: KIND, of: workflow.id, since: now() });
    await notifyOf(tx, { projectId, workflowId: workflow.id }, facts, baseUrl());
  }
  for (const [workflowId, own] of Map.groupBy(failed, ({ workflow }) => workflow.id)) {
    const due = await takeDue(tx, {
      projectIds: [projectId],
      kind: KIND,
      of: workflowId,
      since: digestsSince(),
    });
    const last = own.at(-1);
    if (due.size === 0 || last === undefined) continue;
    const facts = {
      name: last.workflow.name,
      count: own.length,
      step: stepOf(last)?.name ?? "",
      error: last.exitReason ?? "",
      isPaused: false,
    };
    await notifyOf(tx, { projectId, workflowId }, facts, baseUrl());
  }
}

async function notifyOf(
  tx: Tx,
  { projectId, workflowId }: Failing,
  facts: FailedWorkflow,
  baseUrl: string,
): Promise<void> {
  const shown = { ...facts, name: nameForStrangers(facts.name), step: nameForStrangers(facts.step) };
  const mail = notificationMail(
    (texts) => texts.failedWorkflow(shown),
    `${baseUrl}/app/${projectId}/workflows/${workflowId}`,
  );
  const { name, count, step, error } = facts;
  const state = facts.isPaused ? "paused" : "failed";
  await notifyMembers(
    tx,
    { projectId, kind: KIND, facts: { workflowId, name, state, step, count, error } },
    mail,
  );
}

/** Notifies members of failures since the last notification, a day after it. Returns the number of workflows. */
export async function sendFailureDigests({
  database,
  baseUrl,
}: {
  database: Database;
  baseUrl: () => string;
}): Promise<number> {
  const since = digestsSince();
  const due = await listDueDigests(database, { kind: KIND, since, limit: AT_ONCE });
  for (const { projectId, workflowId, ...facts } of due)
    await transaction(database, async (tx) => {
      const last = await findLastFailure(tx, projectId, workflowId);
      if (last === undefined) return;
      const taken = await takeDue(tx, { projectIds: [projectId], kind: KIND, of: workflowId, since });
      if (taken.size > 0)
        await notifyOf(tx, { projectId, workflowId }, { ...facts, ...last, isPaused: false }, baseUrl());
    });
  return due.length;
}

export function startFailureDigests(options: {
  database: Database;
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}): Loop {
  const { log, metrics } = options;
  return startLoop({
    name: "digests of failed workflows",
    runOnce: async () => ((await sendFailureDigests(options)) === AT_ONCE ? 0 : POLL_MS),
    everyMs: POLL_MS,
    log,
    metrics,
  });
}

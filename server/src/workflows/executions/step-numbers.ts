// Returns the statistics of each step. The engine counts executions, and emails are counted from their rows.
import type { Database } from "../../platform/database/database.ts";
import { countMailsByStep } from "../../emails/reading/email-statuses.ts";
import { requireWorkflow } from "./executions.ts";
import { listStepCounts } from "./list-queries.ts";

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function countSteps(database: Database, projectId: string, workflowId: string) {
  const { id } = await requireWorkflow(database, projectId, workflowId);
  const rows = await listStepCounts(database, projectId, id);
  const mails = await countMailsByStep(
    database,
    projectId,
    rows.map((row) => row.stepId),
  );
  const steps = rows.map(({ stepId, ...counts }) => ({
    stepId,
    ...counts,
    waiting: counts.entered - counts.passed - counts.skipped - counts.failed - counts.cancelled,
    ...(mails.get(stepId) ?? { sent: 0, opened: 0, clicked: 0 }),
  }));
  return { active: steps.reduce((sum, { waiting }) => sum + waiting, 0), steps };
}

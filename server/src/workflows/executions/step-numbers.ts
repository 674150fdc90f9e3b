// Returns the statistics of each step. The engine counts executions, and the statements that change an email count emails.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database } from "../../platform/database/database.ts";
import { readEmailCounts } from "../../emails/results/email-counts.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { requireWorkflow } from "./executions.ts";
import { countGoals } from "./goal-queries.ts";
import { listStepCounts } from "./list-queries.ts";

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function countSteps(database: Database, projectId: string, workflowId: string) {
  const { id } = await requireWorkflow(database, projectId, workflowId);
  const rows = await listStepCounts(database, projectId, id);
  const mails = await readEmailCounts(
    database,
    projectId,
    rows.map((row) => row.stepId),
  );
  const steps = pairUp(rows, mails).map(([{ stepId, ...counts }, { sent, opened, clicked }]) => ({
    stepId,
    ...counts,
    waiting: counts.entered - counts.passed - counts.skipped - counts.failed - counts.cancelled,
    sent,
    opened,
    clicked,
  }));
  const counted = await countGoals(database, projectId, id, LIMITS.recentExecutionsCounted.value);
  const goal = counted && {
    ...counted,
    goalRate: counted.executions === 0 ? null : counted.reached / counted.executions,
  };
  return { active: steps.reduce((sum, { waiting }) => sum + waiting, 0), goal, steps };
}

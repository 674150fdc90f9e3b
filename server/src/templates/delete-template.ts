// Finds the uses of a template, and deletes one that has none.
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { readEmailCounts } from "../emails/results/email-counts.ts";
import { deleteTemplateRow, findTemplateForUpdate } from "./queries.ts";
import { usageReasonOf, type TemplateReferences } from "./rules.ts";
import { getTemplate } from "./templates.ts";

type FindUses<Kind extends keyof TemplateReferences> = (
  database: Database,
  projectId: string,
  templateId: string,
) => Promise<TemplateReferences[Kind]>;

/** Finds uses of a template in later folders; passed in by api.ts. */
export interface TemplateUse {
  workflowStepsOf: FindUses<"workflowSteps">;
  executionsSending: FindUses<"executions">;
}

/**
 * Deletes a template. Locks it before looking for uses, because every new use first locks it for key share.
 * @throws AppError TEMPLATE_NOT_FOUND; CONFLICT while the template is in use
 */
export async function deleteTemplate(tx: Tx, projectId: string, id: string, use: TemplateUse): Promise<void> {
  const row = isId(id) ? await findTemplateForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("TEMPLATE_NOT_FOUND");
  const reason = usageReasonOf(await referencesOf(tx, projectId, row.id, use));
  if (reason !== null) throw new AppError("CONFLICT", reason);
  await deleteTemplateRow(tx, projectId, row.id);
}

/**
 * Returns the uses of a template.
 * @throws AppError TEMPLATE_NOT_FOUND
 */
export async function templateUsage(
  database: Database,
  projectId: string,
  id: string,
  use: TemplateUse,
): Promise<TemplateReferences & { emailsSent: number }> {
  const template = await getTemplate(database, projectId, id);
  const [counts] = await readEmailCounts(database, projectId, [template.id]);
  return {
    ...(await referencesOf(database, projectId, template.id, use)),
    emailsSent: counts?.sent ?? 0,
  };
}

/** Returns all references to a template by its id. Emails and campaigns have their own message templates. */
async function referencesOf(
  database: Database,
  projectId: string,
  id: string,
  { workflowStepsOf, executionsSending }: TemplateUse,
): Promise<TemplateReferences> {
  return {
    campaigns: [],
    workflowSteps: await workflowStepsOf(database, projectId, id),
    executions: await executionsSending(database, projectId, id),
  };
}

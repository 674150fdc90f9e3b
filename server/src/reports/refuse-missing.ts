// Rejects filter ids that do not belong to the project, with the same error as for unknown ids.
import type { ErrorCode } from "@postloft/contract/errors.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { findMissing } from "./feed-queries.ts";

const CODES = {
  contact: "CONTACT_NOT_FOUND",
  campaign: "CAMPAIGN_NOT_FOUND",
  template: "TEMPLATE_NOT_FOUND",
  workflow: "WORKFLOW_NOT_FOUND",
} as const satisfies Record<string, ErrorCode>;

/** @throws AppError for the first object that the project does not have */
export async function requireExisting(
  database: Database,
  projectId: string,
  named: Parameters<typeof findMissing>[2],
): Promise<void> {
  const { contactId, campaignId, templateId, workflowId } = named;
  if ((contactId ?? campaignId ?? templateId ?? workflowId) === undefined) return;
  const missing = await findMissing(database, projectId, named);
  for (const what of Object.keys(CODES) as Array<keyof typeof CODES>)
    if (missing[what]) throw new AppError(CODES[what]);
}

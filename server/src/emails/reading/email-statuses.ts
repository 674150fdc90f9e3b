// Reads the status of emails by id.
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { Database } from "../../platform/database/database.ts";
import { findNamesOfEmails, findEmailStatuses } from "./status-queries.ts";

export interface EmailState {
  id: string;
  status: EmailStatus;
  subject: string;
  /** Why the email was skipped, failed or waits. */
  reason: string | null;
}

/** Returns emails by id, without the ones that do not exist. */
export async function readEmailStatuses(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, EmailState>> {
  if (ids.length === 0) return new Map();
  const rows = await findEmailStatuses(database, projectId, ids);
  return new Map(rows.map((row) => [row.id, { ...row, status: row.status as EmailStatus }]));
}

export interface EmailName {
  id: string;
  /** Empty if the email has been redacted. */
  subject: string;
  campaignId: string | null;
}

/** Returns subjects and campaigns of emails by id, without the ones that do not exist. */
export async function readEmailNames(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, EmailName>> {
  if (ids.length === 0) return new Map();
  const rows = await findNamesOfEmails(database, projectId, ids);
  return new Map(rows.map((row) => [row.id, row]));
}

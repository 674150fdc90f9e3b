// Where a few mails stand, for those who only know their ids.
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { Database } from "../../platform/database.ts";
import { countMailsOfSteps, findNamesOfEmails, findStandingsOfEmails } from "./standing-queries.ts";

export interface EmailStanding {
  id: string;
  status: EmailStatus;
  subject: string;
}

/** By id; those that are not there are missing. */
export async function readEmailStandings(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, EmailStanding>> {
  if (ids.length === 0) return new Map();
  const rows = await findStandingsOfEmails(database, projectId, ids);
  return new Map(rows.map((row) => [row.id, { ...row, status: row.status as EmailStatus }]));
}

export interface EmailName {
  id: string;
  /** Empty: what it said was forgotten. */
  subject: string;
  campaignId: string | null;
}

/** Returns what a few mails are called and which campaigns they are of, by id; those that are not there are missing. */
export async function readEmailNames(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, EmailName>> {
  if (ids.length === 0) return new Map();
  const rows = await findNamesOfEmails(database, projectId, ids);
  return new Map(rows.map((row) => [row.id, row]));
}

export interface StepMails {
  sent: number;
  opened: number;
  clicked: number;
}

/** What became of the mails of steps of workflows, by step; steps without mail are missing. */
export async function countMailsByStep(
  database: Database,
  projectId: string,
  stepIds: readonly string[],
): Promise<Map<string, StepMails>> {
  if (stepIds.length === 0) return new Map();
  const rows = await countMailsOfSteps(database, projectId, stepIds);
  return new Map(rows.map(({ stepId, ...counts }) => [stepId, counts]));
}

// Reads and verifies the counts of emails by campaign, workflow step and template (docs/decisions/0125-email-counts.md).
import type { Database, Tx } from "../../platform/database/database.ts";
import {
  COUNTED,
  listWrongCounts,
  sampleProjects,
  sumEmailCounts,
  updateUnsubscribed,
  type EmailCounts,
  type UsedLink,
} from "./email-count-queries.ts";

export type { EmailCounts, UsedLink } from "./email-count-queries.ts";

const NONE = Object.fromEntries(COUNTED.map((name) => [name, 0])) as EmailCounts;

/** Returns the counts of campaigns, workflow steps or templates, in the order of `ids`. Costs the same for any number of emails. */
export async function readEmailCounts(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<EmailCounts[]> {
  if (ids.length === 0) return [];
  const rows = await sumEmailCounts(database, projectId, ids);
  const byId = new Map(rows.map((row) => [row.subjectId, row]));
  return ids.map((id) => byId.get(id) ?? NONE);
}

/** Records that contacts unsubscribed by links. Counts each email once, for its campaign. */
export async function recordUnsubscribed(tx: Tx, links: readonly UsedLink[]): Promise<void> {
  if (links.length > 0) await updateUnsubscribed(tx, links);
}

export interface WrongCount {
  projectId: string;
  /** The ID of the campaign, workflow step or template. */
  subjectId: string;
  /** Each count that differs from the emails, such as `sent 5 instead of 4`. */
  differences: string[];
}

/**
 * Returns the counts of a project that differ from its emails, or of one campaign without its unsubscribes. Reads all of these emails, so use
 * it in tests and checks only.
 */
export async function findWrongCounts(
  database: Database,
  projectId: string,
  campaignId: string | null = null,
): Promise<WrongCount[]> {
  const rows = await listWrongCounts(database, projectId, campaignId);
  return rows.map(({ subjectId, counted, real }) => ({
    projectId,
    subjectId,
    differences: COUNTED.flatMap((name, at) =>
      counted[at] === real[at] ? [] : [`${name} ${counted[at]} instead of ${real[at]}`],
    ),
  }));
}

/** Recounts the emails of a random sample of projects. Returns the number of projects and the differences. */
export async function recountEmails(
  database: Database,
  projects: number,
): Promise<{ projects: number; wrong: WrongCount[] }> {
  const ids = await sampleProjects(database, projects);
  const wrong: WrongCount[] = [];
  for (const id of ids) wrong.push(...(await findWrongCounts(database, id)));
  return { projects: ids.length, wrong };
}

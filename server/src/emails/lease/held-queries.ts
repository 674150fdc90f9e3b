// Queries on held emails. A held email is queued with an infinite due time, so the claiming queries need no extra condition.
import { sql, type SqlBool } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";
import { ofProject } from "../../platform/database/of-project.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded } from "../results/outcome-queries.ts";
import { endedAs } from "../rows/end-queries.ts";
import { variablesAfter } from "../rows/system-project-queries.ts";

const isHeld = sql<SqlBool>`status = 'QUEUED' and due_at = 'infinity'`;

/** Deletes all senders, live or not. Each one registers again under a new id. */
export async function deleteSenders(tx: Tx): Promise<Array<{ id: string; inDoubt: string[] }>> {
  const { rows } = await sql<{
    id: string;
    inDoubt: string[];
  }>`delete from senders returning id, in_doubt`.execute(tx);
  return rows;
}

export async function holdEmails(tx: Tx, reason: string): Promise<number> {
  const result = await sql`
    update emails set due_at = 'infinity', reason = ${reason}
    where status = 'QUEUED' and campaign_id is null and due_at < 'infinity'`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function releaseHeldEmails(tx: Tx, projectId: string | null): Promise<number> {
  const result = await sql`
    update emails set due_at = greatest(now(), scheduled_for), reason = null
    where ${isHeld} and campaign_id is null ${ofProject(projectId)}`.execute(tx);
  notify(tx, "emails");
  return Number(result.numAffectedRows ?? 0);
}

export async function dropHeldEmails(tx: Tx, projectId: string | null, reason: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with ended as (
      update emails e set status = ${endedAs(sql`'SKIPPED'`)}, due_at = now(), reason = ${reason}, variables = ${variablesAfter(sql`true`)}
      where ${isHeld} and campaign_id is null ${ofProject(projectId)}
      returning e.project_id, ${SUBJECTS}, null as was, e.status as became
    ), ${countChanges(changesOfEnded)}
    select count(*)::float8 as count from ended`.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function countHeldEmails(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from emails where ${isHeld} and campaign_id is null`.execute(database);
  return rows[0]?.count ?? 0;
}

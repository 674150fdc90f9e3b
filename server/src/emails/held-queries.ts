// Statements on mails that are held: queued, and due never. So nothing that claims has to know of them.
// Before it: held-emails.ts. After it: nothing.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database.ts";

const isHeld = sql<SqlBool>`status = 'QUEUED' and due_at = 'infinity'`;

const ofProject = (projectId: string | null): RawBuilder<unknown> =>
  projectId === null ? sql`` : sql`and project_id = ${projectId}`;

/** All senders are gone, whether they live or not: each begins anew under another id. */
export async function deleteSenders(tx: Tx): Promise<Array<{ id: string; in_doubt: string[] }>> {
  const { rows } = await sql<{
    id: string;
    in_doubt: string[];
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
    update emails set due_at = now(), reason = null
    where ${isHeld} and campaign_id is null ${ofProject(projectId)}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function dropHeldEmails(tx: Tx, projectId: string | null, reason: string): Promise<number> {
  const result = await sql`
    update emails set status = 'SKIPPED', due_at = now(), reason = ${reason}
    where ${isHeld} and campaign_id is null ${ofProject(projectId)}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

/** System mails of gone senders wait again by themselves: they are held with those that wait. */
export async function holdSystemMails(tx: Tx): Promise<number> {
  const result = await sql`
    update system_mails set status = 'QUEUED', sender_id = null, due_at = 'infinity'
    where status in ('QUEUED', 'CLAIMED', 'SENDING') and due_at < 'infinity'`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function releaseHeldSystemMails(tx: Tx): Promise<number> {
  const result = await sql`update system_mails set due_at = now() where ${isHeld}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function dropHeldSystemMails(tx: Tx, answer: string): Promise<number> {
  const result = await sql`
    update system_mails set status = 'FAILED', due_at = now(), ended_at = now(), answer = ${answer}, text = null, html = null
    where ${isHeld}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function countHeldEmails(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from emails where ${isHeld} and campaign_id is null)::float8
      + (select count(*) from system_mails where ${isHeld})::float8 as count`.execute(database);
  return rows[0]?.count ?? 0;
}

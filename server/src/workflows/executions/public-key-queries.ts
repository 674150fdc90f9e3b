// Statements that count what calls with a public key caused.
import { sql } from "kysely";
import { EMAIL_SKIPPED } from "@postloft/contract/event-names.ts";
import { PUBLIC_KEY } from "../../contacts/consent.ts";
import type { Database, Tx } from "../../platform/database/database.ts";

export interface PublicKeyCount {
  contactId: string;
  lastHour: number;
  lastDay: number;
  isFirst: boolean;
}

/**
 * Counts the emails that workflows sent to these contacts because of a public key. `isFirst`: the contact was created with a public key, got
 * no email yet, and never asked for one, neither by a choice in its consent log nor by an event tracked with another key.
 */
export async function countPublicKeyEmails(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<PublicKeyCount[]> {
  const { rows } = await sql<PublicKeyCount>`
    select c.contact_id, sent.last_hour, sent.last_day,
      not exists (select 1 from emails e where e.project_id = ${projectId} and e.contact_id = c.contact_id)
      and (
        select coalesce(bool_or(l.id = l.contact_id and l.actor = ${PUBLIC_KEY})
          and not bool_or(l.source not in ('workflow', 'bounce', 'complaint') and l.actor is distinct from ${PUBLIC_KEY}), false)
        from consent_changes l where l.project_id = ${projectId} and l.contact_id = c.contact_id)
      and not exists (
        select 1 from events v
        where v.project_id = ${projectId} and v.contact_id = c.contact_id and v.from_public_key is null
          and v.name !~ '^(email|segment|contact)\\.') as is_first
    from unnest(${contactIds}::uuid[]) as c (contact_id)
    cross join lateral (
      select count(*) filter (where e.created_at > now() - interval '1 hour')::integer as last_hour, count(*)::integer as last_day
      from emails e
      where e.project_id = ${projectId} and e.contact_id = c.contact_id and e.from_public_key is not null
        and e.created_at > now() - interval '24 hours'
    ) sent`.execute(tx);
  return rows;
}

/** Lets one transaction at a time send first emails of a project. */
export async function lockFirstEmails(tx: Tx, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`first emails ${projectId}`}, 0))`.execute(tx);
}

/** Counts the first emails that workflows of a project sent within an hour because of a public key. */
export async function countFirstEmails(tx: Tx, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from emails
    where project_id = ${projectId} and from_public_key = 'FIRST' and created_at > now() - interval '1 hour'`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}

/** Counts the emails of a workflow that were skipped in the last 24 hours, up to `most`. */
export async function countSkippedEmails(
  database: Database,
  projectId: string,
  workflowId: string,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from events v
      where v.project_id = ${projectId} and v.name = ${EMAIL_SKIPPED} and v.created_at > now() - interval '24 hours'
        and v.data ->> 'workflowId' = ${workflowId}
      limit ${most}) skipped`.execute(database);
  return rows[0]?.count ?? 0;
}

// Logs opt-outs of contacts that an import had already unsubscribed. Otherwise the undo of that import would resubscribe contacts that have
// left since (docs/decisions/0103-undo-an-import.md).
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import type { ChangeSource } from "./rules.ts";

interface OptOut {
  id: string;
  changeId: string;
  via: ChangeSource;
}

const newest = (projectId: string) => sql`
  cross join lateral (
    select l.source, l.subscribed from consent_changes l where l.project_id = ${projectId} and l.contact_id = c.id
    order by l.created_at desc, l.id desc limit 1
  ) n`;

/** Locks the contacts with a last subscription change by an import or its undo, and returns their ids. */
export async function lockImported(tx: Tx, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select c.id from contacts c ${newest(projectId)}
    where c.project_id = ${projectId} and c.id = any(${ids}::uuid[]) and n.source = 'import'
    order by c.email for no key update of c`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/** Adds a log entry for locked contacts if their newest entry is an unsubscription by an import. Returns these contacts. */
export async function insertRepeatedOptOuts(
  tx: Tx,
  projectId: string,
  optOuts: readonly OptOut[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into consent_changes (project_id, contact_id, id, subscribed, source, actor, ip, email_id)
    select c.project_id, c.id, i.change_id, false, i.source, i.actor, i.ip, i.email_id
    from unnest(
      ${optOuts.map(({ id }) => id)}::uuid[],
      ${optOuts.map(({ changeId }) => changeId)}::uuid[],
      ${optOuts.map(({ via }) => via.source)}::text[],
      ${optOuts.map(({ via }) => via.actor)}::text[],
      ${optOuts.map(({ via }) => via.ip)}::inet[],
      ${optOuts.map(({ via }) => via.emailId ?? null)}::uuid[]
    ) as i (id, change_id, source, actor, ip, email_id)
    join contacts c on c.project_id = ${projectId} and c.id = i.id and not c.subscribed ${newest(projectId)}
    where n.source = 'import' and not n.subscribed
    returning contact_id as id`.execute(tx);
  return rows.map(({ id }) => id);
}

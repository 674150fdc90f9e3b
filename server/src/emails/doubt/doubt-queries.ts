// Queries on emails in doubt that decide which may be retried.
import { sql } from "kysely";
import type { Tx } from "../../platform/database/database.ts";

interface MailKey {
  projectId: string;
  id: string;
}

const idsOf = (keys: readonly MailKey[]) =>
  sql`unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)`;

/**
 * Returns the emails that must wait for a person after this doubt. Either their project wants that, or an earlier attempt was in doubt,
 * even if it has since been confirmed as sent.
 */
export async function listWithoutFurtherTry(tx: Tx, keys: readonly MailKey[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select i.id from ${idsOf(keys)}
    join project_queues q on q.project_id = i.project_id
    where q.when_in_doubt = 'WAIT'
    union
    select i.id from ${idsOf(keys)}
    join email_attempts a on a.project_id = i.project_id and a.email_id = i.id
    where a.outcome in ('uncertain', 'sent')`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/** Returns the emails with an attempt that ended in doubt, even if it has been confirmed as sent since. */
export async function listWithDoubts(tx: Tx, keys: readonly MailKey[]): Promise<MailKey[]> {
  const { rows } = await sql<MailKey>`
    select distinct i.project_id, i.id from ${idsOf(keys)}
    join email_attempts a on a.project_id = i.project_id and a.email_id = i.id
    where a.outcome in ('uncertain', 'sent')`.execute(tx);
  return rows;
}

/** Returns the emails with an in-doubt attempt that has been confirmed as sent since. */
export async function listTaken(tx: Tx, keys: readonly MailKey[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select distinct i.id from ${idsOf(keys)}
    join email_attempts a on a.project_id = i.project_id and a.email_id = i.id
    where a.outcome = 'sent'`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

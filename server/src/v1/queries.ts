// Queries of the ingest endpoints on contacts and emails.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";

/** Returns the subscription of contacts of many projects by address, without unknown ones. */
export async function findSubscriptions(tx: Tx, keys: ReadonlyArray<{ projectId: string; email: string }>) {
  const { rows } = await sql<{ projectId: string; email: string; subscribed: boolean }>`
    select c.project_id, c.email, c.subscribed
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.email)}::text[]) as i (project_id, email)
    join contacts c on c.project_id = i.project_id and c.email = i.email`.execute(tx);
  return rows;
}

/** Returns the beginning of the language of contacts of many projects, without contacts that have none. */
export async function findLocales(tx: Tx, keys: ReadonlyArray<{ projectId: string; contactId: string }>) {
  const { rows } = await sql<{ projectId: string; contactId: string; locale: string }>`
    select c.project_id, c.id as contact_id, left(c.data ->> 'locale', 100) as locale
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.contactId)}::uuid[]) as i (project_id, contact_id)
    join contacts c on c.project_id = i.project_id and c.id = i.contact_id
    where c.data ->> 'locale' is not null`.execute(tx);
  return rows;
}

/** Returns the emails without a row, except those of deleted projects. */
export async function listMissingEmails(
  database: Database,
  mails: ReadonlyArray<{ projectId: string; emailId: string }>,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select i.id from unnest(
      ${mails.map(({ projectId }) => projectId)}::uuid[], ${mails.map(({ emailId }) => emailId)}::uuid[]
    ) as i (project_id, id)
    join projects p on p.id = i.project_id
    left join emails e on e.project_id = i.project_id and e.id = i.id
    where e.id is null`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

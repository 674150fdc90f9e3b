// What a mail was given to say, and to whom. Before it: written-mail.ts. After it: nothing.
import { sql } from "kysely";
import type { Database } from "../../platform/database.ts";

export async function findWritten(database: Database, projectId: string, id: string) {
  const { rows } = await sql<{
    contactId: string | null;
    toAddress: string;
    isTest: boolean | null;
    variables: unknown;
    isForgotten: boolean;
    subject: string;
    html: string;
    text: string | null;
  }>`
    select e.contact_id, e.to_address, e.is_test, e.variables, e.forgotten_at is not null as is_forgotten, c.subject, c.html, c.text
    from emails e join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where e.project_id = ${projectId} and e.id = ${id}`.execute(database);
  return rows[0];
}

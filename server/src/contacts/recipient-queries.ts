// Pieces of the outbox's statements that are about contacts.
// Before it: recipients.ts. After it: `contacts`.
import { sql, type RawBuilder, type SqlBool } from "kysely";

export const allIdsOf = (projectId: string): RawBuilder<unknown> => sql`
  select id from contacts where project_id = ${projectId}`;

export const subscribedHeld = (projectId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select c.id from contacts c
  where c.project_id = ${projectId} and c.subscribed and c.id = any(${ids})
  for share skip locked`;

export const subscribed = (
  projectId: string,
  contactId: RawBuilder<unknown>,
): RawBuilder<SqlBool> => sql<SqlBool>`exists (
  select 1 from contacts c where c.project_id = ${projectId} and c.id = ${contactId} and c.subscribed)`;

/** Contacts `c` that match, as recipients. */
export const recipientsWhere = (projectId: string, matches: RawBuilder<SqlBool>): RawBuilder<unknown> => sql`
  select c.id as contact_id, c.email from contacts c where c.project_id = ${projectId} and ${matches}`;

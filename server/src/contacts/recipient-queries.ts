// SQL fragments about contacts for the outbox.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { inProject } from "../platform/database/cluster.ts";

export const idsThere = (contacts: RawBuilder<unknown>, projectId: string | null): RawBuilder<unknown> => sql`
  select distinct c.id from (${contacts}) as i (project_id, id)
  join contacts c on c.project_id = i.project_id and c.id = i.id ${inProject(sql`c.project_id`, projectId)}`;

export const subscribedHeld = (
  projectId: string,
  ids: RawBuilder<unknown>,
  isOfOne: boolean,
): RawBuilder<unknown> =>
  isOfOne
    ? sql`
  select c.id from contacts c
  where c.project_id = ${projectId} and c.id = any(${ids}) and c.subscribed for share skip locked`
    : sql`
  select c.id from (select ${projectId}::uuid as project_id, unnest(${ids}) as id) i
  -- Compares the project with a column (docs/decisions/0027).
  join contacts c on c.project_id = i.project_id and c.id = i.id
  where c.subscribed for share of c skip locked`;

export const subscribed = (
  projectId: RawBuilder<unknown>,
  contactId: RawBuilder<unknown>,
): RawBuilder<SqlBool> => sql<SqlBool>`exists (
  select 1 from contacts c where c.project_id = ${projectId} and c.id = ${contactId} and c.subscribed)`;

/** Returns a query for matching contacts `c` as recipients. */
export const recipientsWhere = (projectId: string, matches: RawBuilder<SqlBool>): RawBuilder<unknown> => sql`
  select c.id as contact_id, c.email from contacts c where c.project_id = ${projectId} and ${matches}`;

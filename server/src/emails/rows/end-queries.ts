// Decides the final status of an email that is no longer tried. An email that an earlier attempt may have sent did not simply fail.
import { sql, type RawBuilder } from "kysely";

/**
 * Returns the final status of an email `e` that ends as `status` (*FAILED* or *SKIPPED*). Becomes *UNCONFIRMED* if an earlier attempt got
 * no reply and no one has resolved that attempt as failed. Only emails tried before cost a lookup.
 *
 * @param projectId the project, if the statement is about one: a distributed database then finds all rows on one node
 */
export const endedAs = (
  status: RawBuilder<unknown>,
  projectId: RawBuilder<unknown> = sql`e.project_id`,
): RawBuilder<unknown> => sql`
  case when e.attempts > 0 and exists (
    select 1 from email_attempts a
    where a.project_id = ${projectId} and a.email_id = e.id and a.outcome = 'uncertain' and not exists (
      select 1 from email_resolutions r
      where r.project_id = ${projectId} and r.email_id = e.id and r.attempt >= a.attempt and r.resolved_as = 'failed'))
    then 'UNCONFIRMED' else ${status} end`;

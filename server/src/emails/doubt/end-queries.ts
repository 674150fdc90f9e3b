// How a mail ends that is not tried any more: one that may have left by an earlier attempt did not simply fail, and was not skipped.
import { sql, type RawBuilder } from "kysely";

/**
 * The state of a mail `e` that ends as `status`, *FAILED* or *SKIPPED* say: *UNCONFIRMED* where an attempt before got no answer and
 * nobody has said of that since that it failed. A few mails are asked of: those that were tried before.
 */
export const endedAs = (status: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  case when e.attempts > 0 and exists (
    select 1 from email_attempts a
    where a.project_id = e.project_id and a.email_id = e.id and a.outcome = 'uncertain' and not exists (
      select 1 from email_resolutions r
      where r.project_id = e.project_id and r.email_id = e.id and r.attempt >= a.attempt and r.resolved_as = 'failed'))
    then 'UNCONFIRMED' else ${status} end`;

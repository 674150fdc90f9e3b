// Counts the emails that an execution skipped, from its trace.
import { sql, type RawBuilder } from "kysely";
import { RECORDED_REASONS } from "@postloft/contract/recorded-reasons.ts";

/**
 * The type of a run's step, from the version of the execution. If the execution moved to a version without the step, `n` is negative and the
 * run itself has the type.
 */
const typeOf = (
  projectId: string,
) => sql`case when (r.run ->> 'n')::integer < 0 then r.run -> 'step' ->> 'type' else (
  select v.graph -> 'steps' -> (r.run ->> 'n')::integer ->> 'type' from workflow_versions v
  where v.project_id = ${projectId} and v.workflow_id = x.workflow_id and v.version = x.version) end`;

/**
 * Returns an expression for the emails that an execution `x` skipped in its steps, and those that the sender skipped afterwards: an object
 * with their number, and with the reason if all have the same. The object is empty if no email was skipped.
 */
export const skippedEmailsOf = (projectId: string): RawBuilder<unknown> => sql`coalesce((
  select jsonb_build_object('skippedEmails', count(*)) || case when count(distinct s.reason) = 1 and count(s.reason) = count(*)
    then jsonb_build_object('skipReason', min(s.reason)) else '{}' end
  from (
    select coalesce(e.reason, r.run -> 'out' ->> 'code', r.run -> 'out' ->> 'reason') as reason
    from jsonb_array_elements(x.trace) r (run)
    left join emails e on e.project_id = ${projectId} and e.id = (r.run -> 'out' ->> 'emailId')::uuid and e.status = 'SKIPPED'
    where e.id is not null or (r.run ->> 'is' = 'SKIPPED' and ${typeOf(projectId)} = 'SEND_EMAIL'
      -- The contact got that email before.
      and coalesce(r.run -> 'out' ->> 'reason', '') <> ${RECORDED_REASONS.alreadySent})
  ) s having count(*) > 0), '{}')`;

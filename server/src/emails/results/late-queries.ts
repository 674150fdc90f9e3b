// Records replies that arrive after another process has ended their attempts.
import { sql } from "kysely";
import { inProject, projectOf } from "../../platform/database/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import { isBeingSubmitted } from "../rows/status-queries.ts";
import { countChanges, SUBJECTS } from "./email-count-queries.ts";
import { changesOfEnded, consequences } from "./outcome-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import { RETURNED_STATUSES } from "../rows/rules.ts";
import { subjectAfter, variablesAfter } from "../rows/system-project-queries.ts";

/** A sent email with an attempt that another process ended as in doubt. */
export interface LateReply {
  outcome: OutcomeRow;
  attempt: number;
}

/** An email that is now sent, or was submitted again and has only the result of its earlier attempt corrected. */
export interface EndedLate {
  id: string;
  isEnded: boolean;
}

/**
 * Sets an email to sent if it is unconfirmed, failed since this attempt or waits for a retry. An email already reported as sent only gets
 * the reply. For an email that was submitted again, corrects the outcome of this attempt.
 * @param projectId the project of all of them, which a cluster requires, or null if they may be of several
 */
export async function updateLateSent(
  database: Database,
  replies: readonly LateReply[],
  projectId: string | null = null,
): Promise<EndedLate[]> {
  const { rows } = await sql<EndedLate>`
    with told as materialized (
      -- The instant is a column, because a cluster accepts no now() beside the columns of an update.
      select *, now() as at from unnest(
        ${replies.map(({ outcome }) => outcome.projectId)}::uuid[],
        ${replies.map(({ outcome }) => outcome.id)}::uuid[],
        ${replies.map(({ attempt }) => attempt)}::smallint[],
        ${replies.map(({ outcome }) => outcome.subject)}::text[],
        ${replies.map(({ outcome }) => outcome.sent?.transport ?? null)}::text[],
        ${replies.map(({ outcome }) => outcome.sent?.answer ?? null)}::text[],
        ${replies.map(({ outcome }) => outcome.sent?.providerMessageId ?? null)}::text[]
      ) as i (project_id, id, attempt, subject, transport, answer, provider_message_id)
    ), before as materialized (
      select e.project_id, e.id, e.status from told i join emails e on e.project_id = i.project_id and e.id = i.id
        ${inProject(sql`e.project_id`, projectId)}
      -- A cluster accepts no lock here. The caller holds it.
      ${projectId === null ? sql`for no key update of e` : sql``}
    ), ended as (
      update emails e set
        status = case when e.status = any(${RETURNED_STATUSES}::text[]) then e.status else 'SENT' end,
        reason = null, sender_id = null, sent_at = coalesce(e.sent_at, i.at),
        transport = i.transport, answer = i.answer, provider_message_id = i.provider_message_id,
        subject = ${subjectAfter(sql`i.subject`)},
        variables = ${variablesAfter(sql`true`)}
      from told i join before b on b.project_id = i.project_id and b.id = i.id
      where e.project_id = i.project_id and e.id = i.id ${inProject(sql`e.project_id`, projectId)} and e.answer is null
        and (e.attempts = i.attempt and (e.status in ('UNCONFIRMED', 'SENT') or e.status = any(${RETURNED_STATUSES}::text[]))
          -- Even if later attempts were rejected or in doubt, because this one was accepted.
          or e.attempts >= i.attempt and e.status in ('UNCONFIRMED', 'QUEUED', 'CLAIMED', 'FAILED') and not ${isBeingSubmitted} and exists (
            select 1 from email_attempts a where a.project_id = ${projectOf(sql`i.project_id`, projectId)} and a.email_id = i.id
              and a.attempt = i.attempt and a.outcome = 'uncertain'))
      returning e.project_id, e.id, e.contact_id, case when e.sent_at = i.at and e.is_test is null then e.sent_at end as left_at,
        ${SUBJECTS}, b.status as was, e.status as became
    ), ${consequences}, ${countChanges(changesOfEnded, projectId)}, corrected as (
      update email_attempts a set outcome = 'sent', answer = i.answer, transport = i.transport
      from told i
      where a.project_id = i.project_id and a.email_id = i.id ${inProject(sql`a.project_id`, projectId)} and a.attempt = i.attempt
        and a.outcome = 'uncertain'
        and not exists (select 1 from ended where ended.project_id = i.project_id and ended.id = i.id)
      returning a.email_id
    )
    select id, true as is_ended from ended
    union all select email_id, false from corrected`.execute(database);
  return rows;
}

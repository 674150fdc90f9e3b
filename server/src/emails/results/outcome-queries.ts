// Queries that record how an attempt to send an email ended.
import { sql, type RawBuilder } from "kysely";
import { inProject, projectOf, queryByProject } from "../../platform/database/cluster.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { enqueueSentEventsFrom } from "../../reactions/reactions.ts";
import type { Category } from "../../transports/replies/replies.ts";
import { endedAs } from "../rows/end-queries.ts";
import { countChanges, SUBJECTS } from "./email-count-queries.ts";
import { RETURNED_STATUSES } from "../rows/rules.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import { addToSendingHours } from "./sending-queries.ts";
import { subjectAfter, variablesAfter } from "../rows/system-project-queries.ts";

interface EndedRow extends Row<"emails", "projectId" | "id" | "contactId" | "status" | "attempts"> {
  /** When the email was sent by this update. Null for test emails, for unsent emails and if a report was recorded first. */
  leftAt: Date | null;
}

/**
 * Ends the attempts of emails that this sender holds. Returns those emails with the outcome as their status. A report may arrive before the
 * reply, in which case the email keeps its later status and only the details of its sending are added. An email that fails or is skipped
 * becomes unconfirmed if an earlier attempt may have been accepted.
 */
export async function updateOutcomes(tx: Tx, senderId: string, outcomes: readonly OutcomeRow[]) {
  return queryByProject(tx, outcomes, async (own, projectId) => {
    const ended = sql`case when i.status in ('FAILED', 'SKIPPED')
      then ${endedAs(sql`i.status`, projectOf(sql`e.project_id`, projectId))} else i.status end`;
    const { rows } = await sql<EndedRow>`
      with ended as (${outcomeUpdate(senderId, own, { unsent: ended, projectId })}), ${countChanges(changesOfEnded, projectId)}
      select project_id, id, contact_id, status, attempts, left_at from ended`.execute(tx);
    return rows;
  });
}

/** Builds the same update for plain sent emails as part of a larger statement. Nearly all emails end here. */
export function sentUpdate(
  senderId: string,
  outcomes: readonly OutcomeRow[],
  projectId: string | null,
): RawBuilder<unknown> {
  return outcomeUpdate(senderId, outcomes.toSorted(byEndOfId), { unsent: sql`i.status`, projectId });
}

/**
 * Sorts emails sent at the same instant in the order of the index `emails_sent`. Inserting in index order fills its pages better (50 bytes
 * per email instead of 78).
 */
function byEndOfId(one: OutcomeRow, other: OutcomeRow): number {
  return one.id.slice(-17) < other.id.slice(-17) ? -1 : 1;
}

/** CTEs that add outbox events and counts for the emails in `ended` that were sent by this statement. */
export const consequences = sql`
  noted as (${enqueueSentEventsFrom(sql`
    select project_id, contact_id, id from ended where left_at is not null and contact_id is not null`)}),
  counted as (${addToSendingHours(sql`
    select project_id, left_at, 1, 0, 0, 0 from ended where left_at is not null`)})`;

/** Returns the changes in a CTE, without reports, for `countChanges`. */
export const changesIn = (changed: RawBuilder<unknown>) => sql`
  select project_id, campaign_id, workflow_step_id, template_id, was, became, null as report from ${changed}`;

export const changesOfEnded = changesIn(sql`ended`);

function outcomeUpdate(
  senderId: string,
  outcomes: readonly OutcomeRow[],
  { unsent, projectId }: { unsent: RawBuilder<unknown>; projectId: string | null },
): RawBuilder<unknown> {
  return sql`
    update emails e set
      status = case
        when e.status <> 'CLAIMED' then e.status
        when i.status <> 'SENT' then ${unsent}
        -- Opened before its result was recorded.
        when e.clicked_at is not null then 'CLICKED'
        when e.opened_at is not null then 'OPENED'
        else i.status end,
      reason = i.reason, attempts = e.attempts + (i.status <> 'SKIPPED')::integer, sender_id = null,
      due_at = i.due_at,
      sent_at = case when i.status = 'SENT' then coalesce(e.sent_at, i.at) end,
      transport = i.transport, answer = i.answer, provider_message_id = i.provider_message_id,
      -- Keeps the subject of an earlier attempt if this one does not know it.
      subject = ${subjectAfter(sql`i.subject`)},
      variables = ${variablesAfter(sql`i.status <> 'QUEUED'`)}
    from (select *, now() as at, now() + make_interval(secs => wait_ms / 1000) as due_at from unnest(
      -- The subquery hides the array length from the planner, which would plan each short batch again.
      (select ${outcomes.map((outcome) => outcome.projectId)}::uuid[]),
      ${outcomes.map((outcome) => outcome.id)}::uuid[],
      ${outcomes.map((outcome) => outcome.status)}::text[],
      ${outcomes.map((outcome) => outcome.reason)}::text[],
      ${outcomes.map((outcome) => outcome.waitMs)}::float8[],
      ${outcomes.map((outcome) => outcome.subject)}::text[],
      ${outcomes.map((outcome) => outcome.sent?.transport ?? null)}::text[],
      ${outcomes.map((outcome) => outcome.sent?.answer ?? null)}::text[],
      ${outcomes.map((outcome) => outcome.sent?.providerMessageId ?? null)}::text[]
    ) as i (project_id, id, status, reason, wait_ms, subject, transport, answer, provider_message_id)
      -- Keeps the instant a column, because a cluster accepts no now() beside the columns of an update.
      offset 0) i
    where e.project_id = i.project_id and e.id = i.id and e.sender_id = ${senderId} ${inProject(sql`e.project_id`, projectId)}
      and (e.status = 'CLAIMED' or (i.status = 'SENT' and e.status = any(${RETURNED_STATUSES}::text[])))
    returning e.project_id, e.id, e.contact_id, i.status, e.attempts,
      case when e.sent_at = i.at and e.is_test is null then e.sent_at end as left_at,
      -- An email with a report before the reply was counted with the report.
      ${SUBJECTS}, null as was, case when i.status <> 'SENT' or e.sent_at = i.at then e.status end as became`;
}

export async function insertAttempts(
  tx: Tx,
  attempts: ReadonlyArray<{
    projectId: string;
    emailId: string;
    attempt: number;
    outcome: string;
    answer: string;
    transport: string | null;
    meaning: Category | null;
  }>,
): Promise<void> {
  await sql`
    insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport, meaning)
    select * from unnest(
      ${attempts.map((attempt) => attempt.projectId)}::uuid[],
      ${attempts.map((attempt) => attempt.emailId)}::uuid[],
      ${attempts.map((attempt) => attempt.attempt)}::smallint[],
      ${attempts.map((attempt) => attempt.outcome)}::text[],
      ${attempts.map((attempt) => attempt.answer)}::text[],
      ${attempts.map((attempt) => attempt.transport)}::text[],
      ${attempts.map((attempt) => attempt.meaning)}::text[]
    ) on conflict do nothing`.execute(tx);
}

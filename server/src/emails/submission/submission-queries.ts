// Decides which emails may be sent and records sent ones in the same statement. Recording one email therefore frees its place for the next,
// never earlier.
import { sql, type RawBuilder } from "kysely";
import { inProject, projectOf } from "../../platform/database/cluster.ts";
import { plannedOften, type Database } from "../../platform/database/database.ts";
import { NOT_SUBSCRIBED, SUPPRESSED } from "../rows/rules.ts";
import type { RecipientChecks } from "../rows/recipients.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesIn, changesOfEnded, consequences, sentUpdate } from "../results/outcome-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import { endedAs } from "../rows/end-queries.ts";

export interface MailKey {
  projectId: string;
  id: string;
}

/** An email with the version of the queue for which its transport was chosen, or null if the project had no transports of its own. */
export interface CheckedEmail extends MailKey {
  chosenFor: string | null;
}

/** The result for one email. */
export type SubmissionResult = "booked" | "passed" | "skipped" | "suppressed";

/** Bulk mail of one project. */
export interface BulkEmails {
  projectId: string;
  ids: readonly string[];
  /** As in `CheckedEmail`. */
  chosenFor: string | null;
}

/** Whether the transports of the project are those for which the email was prepared. */
const areTransportsSame = (chosenFor: RawBuilder<unknown>) => sql`
  and case when p.own_transports then p.xmin::text = ${chosenFor} else ${chosenFor} is null or p.xmin::text = ${chosenFor} end`;

/**
 * Whether the project is enabled and the campaign open. Both may have changed since the claim.
 * @param project the project of email `e`
 * @param ofProject a further condition on the queue `p` of the project
 */
const isQueueOpen = (project: RawBuilder<unknown>, ofProject: RawBuilder<unknown> = sql``) => sql`(exists (
    select 1 from project_queues p where p.project_id = ${project} and p.is_open ${ofProject})
  and (e.campaign_id is null or exists (
    select 1 from campaign_queues q where q.project_id = ${project} and q.campaign_id = e.campaign_id and q.state = 'OPEN')))`;

/** Whether email `e` is this sender's, and of the project of the statement if it is about one. */
const isHeldBy = (senderId: string, projectId: string | null) => sql`
  e.status = 'CLAIMED' and e.sender_id = ${senderId} ${inProject(sql`e.project_id`, projectId)}`;

/**
 * CTE `living` with the row of the sender if its lease is alive by the clock, not by the start of the transaction. Locked, so that the
 * sender is declared dead either before, and nothing passes, or after the commit, which says what passed.
 */
const livingSender = (senderId: string) => sql`
  living as materialized (
    select id from senders where id = ${senderId} and lease_until > clock_timestamp() for no key update
  )`;

const idsOf = (keys: readonly MailKey[]) =>
  sql`unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)`;

/** Excludes suppressed emails, if any of the projects uses its suppression list. */
const isUnsuppressed = (watched: readonly MailKey[]) =>
  watched.length === 0 ? sql`` : sql`and e.id not in (select id from suppressed)`;

/** CTE `plain` with the emails of the list `plain` that pass. It locks their rows. */
const plainEmails = (senderId: string, { projectId, plain, watched }: Checked) => {
  const ids = sql`${plain.map((key) => key.id)}::uuid[]`;
  const chosen = sql`${plain.map((key) => key.chosenFor)}::text[]`;
  const passes = (chosenFor: RawBuilder<unknown>) => sql`
    ${isHeldBy(senderId, projectId)} and ${isQueueOpen(projectOf(sql`e.project_id`, projectId), areTransportsSame(chosenFor))}
    ${isUnsuppressed(watched)}`;
  return projectId === null
    ? sql`plain as materialized (
      select e.id from unnest(${plain.map((key) => key.projectId)}::uuid[], ${ids}, ${chosen}) as i (project_id, id, chosen_for)
      join emails e on e.project_id = i.project_id and e.id = i.id
      where ${passes(sql`i.chosen_for`)}
      for share of e skip locked
    )`
    : // Without a join, because Citus 13.2 reads the locked rows of one in the wrong format.
      sql`plain as materialized (
      select e.id from emails e
      where e.id = any(${ids}) and ${passes(sql`(${chosen})[array_position(${ids}, e.id)]`)}
      for share of e skip locked
    )`;
};

/**
 * CTE `suppressed` with the emails to addresses on the suppression list of their project. Skips these emails, unless another transaction is
 * changing them. An address that is listed before this commits gets no email.
 */
const suppressedMails = (
  senderId: string,
  { watched, projectId }: Checked,
  { suppressionOf }: RecipientChecks,
) => sql`
  suppressed as materialized (
    select e.project_id, e.id, s.reason from ${idsOf(watched)}
    join emails e on e.project_id = i.project_id and e.id = i.id ${inProject(sql`e.project_id`, projectId)}
    cross join lateral (${suppressionOf(projectOf(sql`e.project_id`, projectId), sql`e.to_address`)}) s
  ), own as materialized (
    select e.project_id, e.id from emails e
    where ${
      projectId === null
        ? sql`(e.project_id, e.id) in (select project_id, id from suppressed)`
        : sql`e.id = any(array(select id from suppressed))`
    } and ${isHeldBy(senderId, projectId)} and ${isQueueOpen(projectOf(sql`e.project_id`, projectId))}
    for update skip locked
  ), barred as (
    update emails e set status = ${endedAs(sql`'SKIPPED'`, projectOf(sql`e.project_id`, projectId))}, sender_id = null,
      reason = ${JSON.stringify(SUPPRESSED)}::jsonb ->> l.reason
    from own o join suppressed l on l.project_id = o.project_id and l.id = o.id
    where e.project_id = o.project_id and e.id = o.id ${inProject(sql`e.project_id`, projectId)} and exists (select 1 from living)
    returning e.id, e.project_id, ${SUBJECTS}, null as was, e.status as became
  )`;

/**
 * CTE `list` that passes bulk mail only to subscribed contacts and skips the rest. Locks each contact, so a contact that unsubscribes
 * before this commits gets no email. A contact that another transaction is changing is not waited for, and its email is requeued for one
 * second.
 */
const bulkEmails = (
  senderId: string,
  { projectId, ids, chosenFor }: BulkEmails,
  { watched, projectId: only }: Checked,
  { holdSubscribed, isSubscribed }: RecipientChecks,
) => sql`
  subscribed as materialized (
    -- As an array, because with a join the planner may use the index on contacts and read the whole project.
    ${holdSubscribed(
      projectId,
      sql`array(select e.contact_id from emails e where e.project_id = ${projectId} and e.id = any(${ids}::uuid[]))`,
      only !== null,
    )}
  ), list as materialized (
    select e.project_id, e.id, case
      when e.contact_id in (select id from subscribed) then 'PASSED'
      when ${isSubscribed(projectOf(sql`e.project_id`, only), sql`e.contact_id`)} then 'QUEUED'
      else 'SKIPPED' end as status, now() + interval '1 second' as again_at
    from emails e
    where e.project_id = ${projectId} and e.id = any(${ids}::uuid[]) and e.status = 'CLAIMED' and e.sender_id = ${senderId}
      and ${isQueueOpen(projectOf(sql`e.project_id`, only), areTransportsSame(sql`${chosenFor}::text`))} ${isUnsuppressed(watched)}
    for share of e skip locked
  ), withheld as (
    update emails e set status = case when l.status = 'SKIPPED' then ${endedAs(sql`'SKIPPED'`, sql`${projectId}::uuid`)} else l.status end, sender_id = null,
      reason = case when l.status = 'SKIPPED' then ${NOT_SUBSCRIBED} else e.reason end,
      due_at = case when l.status = 'QUEUED' then l.again_at else e.due_at end
    from list l
    where l.status <> 'PASSED' and e.project_id = ${projectId} and e.id = l.id
      -- Repeated, so that no plan reads all emails of the project.
      and e.id = any(${ids}::uuid[]) and exists (select 1 from living)
    returning e.id, e.status, e.project_id, ${SUBJECTS}, null as was, e.status as became
  )`;

/** The emails of a statement. */
interface Checked {
  /** The project of all of them, which a cluster requires, or null if they may be of several. */
  projectId: string | null;
  sent: readonly OutcomeRow[];
  plain: readonly CheckedEmail[];
  list: BulkEmails | undefined;
  kept: readonly string[];
  /** The emails of `plain` and `list` in projects that use their suppression list. */
  watched: readonly MailKey[];
}

/**
 * Records the emails in `sent` and checks those in `plain` and `list`, in a single statement and transaction. An email passes if this
 * sender holds it under a live lease and its project and campaign are sending. Passed ids are stored with `kept` in the sender's row, so
 * they are in doubt if the sender dies before recording them. Returns the result of each email, without sent emails that no longer belonged
 * to this sender.
 */
export async function recordAndCheck(
  database: Database,
  senderId: string,
  mails: Checked,
  recipients: RecipientChecks,
): Promise<Map<string, SubmissionResult>> {
  const { projectId, sent, list, kept, watched } = mails;
  const parts = [
    sql`ended as (${sentUpdate(senderId, sent, projectId)}), ${consequences}`,
    livingSender(senderId),
    ...(watched.length === 0 ? [] : [suppressedMails(senderId, mails, recipients)]),
    plainEmails(senderId, mails),
    ...(list === undefined ? [] : [bulkEmails(senderId, list, mails, recipients)]),
    countChanges(
      sql.join(
        [
          changesOfEnded,
          ...(watched.length === 0 ? [] : [changesIn(sql`barred`)]),
          ...(list === undefined ? [] : [changesIn(sql`withheld`)]),
        ],
        sql` union all `,
      ),
      projectId,
    ),
    sql`marked as (
      update senders s set in_doubt = ${kept}::uuid[] || array(select id from plain)
        ${list === undefined ? sql`` : sql`|| array(select id from list where status = 'PASSED')`}
      from living where s.id = living.id
      returning s.id
    )`,
  ];
  const { rows } = await sql<{ id: string; end: SubmissionResult }>`
    ${plannedOften} with ${sql.join(parts, sql`, `)}
    select id, 'booked' as end from ended
    union all select id, 'passed' from plain where exists (select 1 from marked)
    ${watched.length === 0 ? sql`` : sql`union all select id, 'suppressed' from barred`}
    ${
      list === undefined
        ? sql``
        : sql`
    union all select id, 'passed' from list where status = 'PASSED' and exists (select 1 from marked)
    union all select id, 'skipped' from withheld where status <> 'QUEUED'`
    }`.execute(database);
  return new Map(rows.map(({ id, end }) => [id, end]));
}

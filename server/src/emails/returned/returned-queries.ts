// Queries that find the email of a report and record the report.
import { sql, type RawBuilder } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { inProject, onlyProject, queryByProject } from "../../platform/database/cluster.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded } from "../results/outcome-queries.ts";
import { mailFacts } from "../rows/sent-events.ts";
import { TO_ADDRESS } from "../rows/shown-queries.ts";
import {
  isBeingSubmitted,
  isBeingSubmittedIn,
  visibleStatus,
  statusOfEmail,
} from "../rows/status-queries.ts";
import { LEFT_STATUSES, type ReturnedStatus } from "../rows/rules.ts";
import { variablesAfter } from "../rows/system-project-queries.ts";

interface Step {
  projectId: string;
  id: string;
  at: Date;
}

interface RecordedRow extends Row<"emails", "projectId" | "id" | "isTest"> {
  /** Null for an email in doubt. */
  sentAt: Date | null;
}

type LeftRow = RecordedRow & { sentAt: Date; contactId: string | null };

/** Returns the condition that email `e` waits for a retry although an earlier attempt may have been accepted. */
const waitsInDoubt = (
  isSending: RawBuilder<boolean>,
  projectId: RawBuilder<unknown> = sql`e.project_id`,
) => sql`(e.status in ('QUEUED', 'CLAIMED') and not ${isSending} and exists (
  select 1 from email_attempts a
  where a.project_id = ${projectId} and a.email_id = e.id and a.outcome in ('uncertain', 'sent')))`;

/** The status of an email for a report. An email that waits for a retry in doubt may have been sent. */
export const statusInDoubt = sql`case when ${waitsInDoubt(isBeingSubmitted)} then 'UNCONFIRMED' else ${statusOfEmail} end`;

/** Cancels the retry of in-doubt emails after a report about them. */
export async function updateFurtherTries(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  const isMeant = waitsInDoubt(await isBeingSubmittedIn(tx), sql`${projectId}::uuid`);
  await sql`
    with ended as (
      update emails e set status = 'UNCONFIRMED', sender_id = null, variables = ${variablesAfter(sql`true`)}
      where e.project_id = ${projectId} and e.id = any(${ids}::uuid[]) and ${isMeant}
      returning e.project_id, ${SUBJECTS}, null as was, e.status as became
    ), ${countChanges(changesOfEnded, await onlyProject(tx, projectId))}
    select`.execute(tx);
}

/** The steps as a table with one row per email. */
function stepsAs(steps: readonly Step[]) {
  return sql`unnest(
    ${steps.map((step) => step.projectId)}::uuid[],
    ${steps.map((step) => step.id)}::uuid[],
    ${steps.map((step) => step.at.toISOString())}::timestamptz[]) as i (project_id, id, at)`;
}

/**
 * Sets the time of sending when a report is the first proof of it. Clears the reason why the email was not sent. During submission only a
 * report that proves acceptance counts. The caller has locked the emails.
 */
export async function markLeft(tx: Tx, steps: ReadonlyArray<Step & { isSure: boolean }>): Promise<LeftRow[]> {
  if (steps.length === 0) return [];
  const status = visibleStatus(await isBeingSubmittedIn(tx));
  return queryByProject(tx, steps, async (own, projectId) => {
    const { rows } = await sql<LeftRow>`
      update emails e set sent_at = i.at, reason = null
      from unnest(
        ${own.map((step) => step.projectId)}::uuid[],
        ${own.map((step) => step.id)}::uuid[],
        ${own.map((step) => step.at.toISOString())}::timestamptz[],
        ${own.map((step) => step.isSure)}::boolean[]
      ) as i (project_id, id, at, is_sure)
      where e.project_id = i.project_id and e.id = i.id ${inProject(sql`e.project_id`, projectId)} and e.sent_at is null
        and ${status} = any(${LEFT_STATUSES}::text[]) and (i.is_sure or e.status <> 'CLAIMED')
      returning e.project_id, e.id, e.sent_at, e.is_test, e.contact_id`.execute(tx);
    return rows;
  });
}

/** The timestamp column of each report. */
const INSTANT_COLUMNS: Readonly<Record<ReturnedStatus, string>> = {
  DELIVERED: "deliveredAt",
  OPENED: "openedAt",
  CLICKED: "clickedAt",
  BOUNCED: "bouncedAt",
  COMPLAINED: "complainedAt",
};

/**
 * Sets the timestamp of the first report of a kind and moves the status forward from one of `from`. The caller has locked the emails. Returns
 * those for which it was the first.
 */
export async function updateReturned(
  tx: Tx,
  status: ReturnedStatus,
  from: readonly EmailStatus[],
  steps: readonly Step[],
): Promise<RecordedRow[]> {
  const instant = sql.ref(INSTANT_COLUMNS[status]);
  const current = visibleStatus(await isBeingSubmittedIn(tx));
  return queryByProject(tx, steps, async (own, projectId) => {
    const { rows } = await sql<RecordedRow>`
      with returned as (
        update emails e set
          ${instant} = i.at,
          status = case when ${current} = any(${from}::text[]) then ${status} else e.status end,
          variables = ${variablesAfter(sql`${current} = any(${from}::text[])`)}
        -- The same row before the update. The caller has locked it, so no other transaction changes it meanwhile.
        from ${stepsAs(own)} join emails b on b.project_id = i.project_id and b.id = i.id
        where e.project_id = i.project_id and e.id = i.id ${inProject(sql`e.project_id`, projectId)} and e.${instant} is null
          and ${current} = any(${LEFT_STATUSES}::text[])
        returning e.project_id, e.id, e.sent_at, e.is_test, ${SUBJECTS}, b.status as was, e.status as became
      ), ${countChanges(sql`select *, ${sql.lit(status.toLowerCase())} as report from returned`, projectId)}
      select project_id, id, sent_at, is_test from returned`.execute(tx);
    return rows;
  });
}

/** Stores when emails first bounced softly, and returns the ones without an earlier soft bounce. The caller has locked them. */
export async function updateSoftBounced(
  tx: Tx,
  steps: readonly Step[],
): Promise<Array<{ projectId: string; id: string }>> {
  const status = visibleStatus(await isBeingSubmittedIn(tx));
  return queryByProject(tx, steps, async (own, projectId) => {
    const { rows } = await sql<{ projectId: string; id: string }>`
      update emails e set soft_bounced_at = i.at
      from ${stepsAs(own)}
      where e.project_id = i.project_id and e.id = i.id ${inProject(sql`e.project_id`, projectId)} and e.soft_bounced_at is null
        and ${status} = any(${LEFT_STATUSES}::text[])
      returning e.project_id, e.id`.execute(tx);
    return rows;
  });
}

export async function updateConfirmed(tx: Tx, steps: readonly Step[]): Promise<LeftRow[]> {
  return queryByProject(tx, steps, async (own, projectId) => {
    const { rows } = await sql<LeftRow>`
      with ended as (
        update emails e set status = 'SENT', sent_at = i.at, reason = null
        from ${stepsAs(own)}
        where e.project_id = i.project_id and e.id = i.id ${inProject(sql`e.project_id`, projectId)} and e.status = 'UNCONFIRMED'
        returning e.project_id, e.id, e.sent_at, e.is_test, e.contact_id, ${SUBJECTS}, 'UNCONFIRMED' as was, e.status as became
      ), ${countChanges(changesOfEnded, projectId)}
      select project_id, id, sent_at, is_test, contact_id from ended`.execute(tx);
    return rows;
  });
}

/** Returns emails with the facts that events contain. */
export async function findReturnedRows(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<{
    projectId: string;
    id: string;
    contactId: string | null;
    status: EmailStatus;
    toAddress: string;
    erasedTo: string | null;
    hasCopies: boolean;
    isForgotten: boolean;
    facts: Record<string, unknown>;
  }>`
    select e.project_id, e.id, e.contact_id, ${statusInDoubt} as status, ${TO_ADDRESS} as to_address, e.erased_to,
      e.copies is not null as has_copies, e.forgotten_at is not null as is_forgotten, ${mailFacts()} as facts
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join emails e on e.project_id = i.project_id and e.id = i.id
    join email_contents c on c.project_id = e.project_id and c.id = e.content_id`.execute(database);
  return rows;
}

export async function findEmailKeysByProviderId(database: Database, providerIds: readonly string[]) {
  const { rows } = await sql<{ projectId: string; id: string; providerMessageId: string }>`
    select project_id, id, provider_message_id from emails
    where provider_message_id = any(${providerIds}::text[])`.execute(database);
  return rows;
}

/** Does one primary key lookup per project, for the few reports that contain only our Message-ID. */
export async function findEmailKeysById(database: Database, ids: readonly string[]) {
  const { rows } = await sql<{ projectId: string; id: string }>`
    select e.project_id, e.id
    from unnest(${ids}::uuid[]) as i (id)
    cross join project_queues p
    join emails e on e.project_id = p.project_id and e.id = i.id`.execute(database);
  return rows;
}

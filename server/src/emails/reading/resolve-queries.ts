// Statements by which a person ends the doubt about mails, and what was said of each.
import { sql } from "kysely";
import type { Resolution } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { onlyProject } from "../../platform/database/cluster.ts";
import { notify } from "../../platform/notify.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded, consequences } from "../results/outcome-queries.ts";
import { HAS_RECIPIENT } from "../rows/shown-queries.ts";

/** Selects the emails that a person resolves, by id, by campaign or both. */
export interface ResolvedMails {
  projectId: string;
  campaignId: string | null;
  /** null: all emails of the campaign. */
  ids: readonly string[] | null;
}

/**
 * Resolves up to `limit` emails in doubt and stores the decision, outbox events and counts in one statement. *sent* uses the time of the
 * attempt. *retry* requeues emails unless their recipient was erased. Returns the resolved ids. Only one of two concurrent calls resolves
 * an email.
 */
export async function updateResolved(
  tx: Tx,
  mails: ResolvedMails,
  resolution: { as: Resolution; by: string | null; failedReason: string },
  limit: number,
): Promise<string[]> {
  const { projectId, campaignId, ids } = mails;
  const { as, by, failedReason } = resolution;
  const status = { sent: "SENT", failed: "FAILED", retry: "QUEUED" }[as];
  const { rows } = await sql<{ id: string }>`
    with chosen as materialized (
      select id, coalesce(
        (select a.created_at from email_attempts a where a.project_id = ${projectId} and a.email_id = e.id
         order by a.attempt desc limit 1), now()) as handed_over_at
      from emails e
      where project_id = ${projectId} and status = 'UNCONFIRMED'
        ${campaignId === null ? sql`` : sql`and campaign_id = ${campaignId}`}
        ${ids === null ? sql`` : sql`and id = any(${ids}::uuid[])`}
        ${as === "retry" ? sql`and ${HAS_RECIPIENT}` : sql``}
      order by id limit ${limit} for update
    ), ended as (
      update emails e set status = ${status}, due_at = now(),
        reason = ${as === "failed" ? failedReason : null},
        sent_at = ${as === "sent" ? sql`coalesce(e.sent_at, chosen.handed_over_at)` : null}
      -- Also as an array, because without statistics the join alone would read all emails of the project.
      from chosen where e.project_id = ${projectId} and e.id = chosen.id and e.id = any (array(select id from chosen))
      returning e.project_id, e.id, e.contact_id, e.attempts,
        case when e.is_test is null then e.sent_at end as left_at,
        ${SUBJECTS}, 'UNCONFIRMED' as was, e.status as became
    ), ${consequences}, ${countChanges(changesOfEnded, await onlyProject(tx, projectId))}, kept as (
      insert into email_resolutions (project_id, email_id, attempt, resolved_as, resolved_by)
      select project_id, id, attempts, ${as}::text, ${by ?? BY_KEY}::text
      from ended
      on conflict (project_id, email_id, attempt) do update set
        resolved_as = excluded.resolved_as, resolved_by = excluded.resolved_by, created_at = now()
    )
    select id from ended`.execute(tx);
  if (as === "retry") notify(tx, "emails");
  return rows.map(({ id }) => id);
}

const BY_KEY = "somebody with the secret key";

/** Lists the resolutions of an email, oldest first. */
export async function listResolutions(database: Database, projectId: string, emailId: string) {
  return database
    .selectFrom("email_resolutions")
    .select(["resolvedAs", "resolvedBy", "createdAt"])
    .where("projectId", "=", projectId)
    .where("emailId", "=", emailId)
    .orderBy("attempt")
    .execute();
}

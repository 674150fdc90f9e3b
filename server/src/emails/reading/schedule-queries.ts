// Statements that change or cancel an email that waits.
import { sql } from "kysely";
import { onlyProject } from "../../platform/database/cluster.ts";
import type { Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded } from "../results/outcome-queries.ts";
import { endedAs } from "../rows/end-queries.ts";
import { variablesAfter } from "../rows/system-project-queries.ts";

/** Changes the time of a scheduled email that was not tried yet. A held email stays held. Returns whether it was changed. */
export async function updateSchedule(tx: Tx, projectId: string, id: string, at: Date): Promise<boolean> {
  const { rows } = await sql`
    update emails set scheduled_for = ${at}, due_at = case when due_at = 'infinity' then due_at else ${at} end
    where project_id = ${projectId} and id = ${id} and status = 'QUEUED' and scheduled_for is not null and attempts = 0
    returning 1`.execute(tx);
  notify(tx, "emails");
  return rows.length > 0;
}

/**
 * Ends an email outside campaigns that waits. A sender that is claiming it either has it before and keeps it, or doesn't get it. Returns
 * whether it was ended.
 */
export async function cancelQueued(tx: Tx, projectId: string, id: string, reason: string): Promise<boolean> {
  const { rows } = await sql`
    with ended as (
      update emails e set status = ${endedAs(sql`'SKIPPED'`, sql`${projectId}::uuid`)}, reason = ${reason}, variables = ${variablesAfter(sql`true`)}
      where e.project_id = ${projectId} and e.id = ${id} and e.status = 'QUEUED' and e.campaign_id is null
      returning e.project_id, ${SUBJECTS}, null as was, e.status as became
    ), ${countChanges(changesOfEnded, await onlyProject(tx, projectId))}
    select 1 from ended`.execute(tx);
  return rows.length > 0;
}

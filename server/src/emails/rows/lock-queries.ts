// Locks the rows of mails in one order, so that transactions that take several of the same never wait for each other in a circle.
import { sql } from "kysely";
import type { Tx } from "../../platform/database/database.ts";

interface LockedRow {
  projectId: string;
  id: string;
  isUnsent: boolean;
  mayBeInDoubt: boolean;
}

/** Locks emails in a fixed order, so that transactions with the same emails cannot deadlock. */
export async function lockEmailRows(
  tx: Tx,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<LockedRow[]> {
  const byProject = Map.groupBy(keys, ({ projectId }) => projectId);
  const locked: LockedRow[] = [];
  for (const projectId of [...byProject.keys()].toSorted()) {
    const ids = [...new Set(byProject.get(projectId)?.map(({ id }) => id))];
    locked.push(...(await lockRowsOf(tx, projectId, ids)));
  }
  return locked;
}

/** Locks the rows of one project, so that the statement works on sharded tables. */
async function lockRowsOf(tx: Tx, projectId: string, ids: readonly string[]): Promise<LockedRow[]> {
  const { rows } = await sql<LockedRow>`
    select project_id, id, sent_at is null as is_unsent, status in ('QUEUED', 'CLAIMED') and attempts > 0 as may_be_in_doubt from emails
    where project_id = ${projectId} and id = any(${ids}::uuid[])
    order by id for update`.execute(tx);
  return rows;
}

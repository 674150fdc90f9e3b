// Queries that find executions which an event or a change of the contact may end.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { CLAIMED, type ExecutionRow } from "./execution-queries.ts";

/** A version of a workflow. */
export interface VersionKey {
  workflowId: string;
  version: number;
}

/** Returns the versions with an exit condition that one of these events can meet. */
export async function listVersionsLeftBy(
  database: Database,
  projectId: string,
  names: readonly string[],
): Promise<VersionKey[]> {
  const { rows } = await sql<VersionKey>`
    select workflow_id, version from workflow_versions
    where project_id = ${projectId} and exit_names <> '{}' and exit_names && ${names}::text[] and is_used`.execute(
    database,
  );
  return rows;
}

export interface WhichLeaving {
  versions: readonly VersionKey[];
  contactIds: readonly string[];
  /** Only executions with a larger id. */
  after: string | null;
  limit: number;
}

/** Locks active executions in the order of their ids. */
export async function claimLeavingExecutions(
  tx: Tx,
  projectId: string,
  { versions, contactIds, after, limit }: WhichLeaving,
): Promise<ExecutionRow[]> {
  const isBehind = after === null ? sql`true` : sql`x.id > ${after}`;
  const { rows } = await sql<ExecutionRow>`
    select ${CLAIMED} from workflow_executions x
    where x.project_id = ${projectId} and x.contact_id = any(${contactIds}::uuid[]) and x.status in ('RUNNING', 'WAITING')
      and (x.workflow_id, x.version) in (select * from unnest(
        ${versions.map(({ workflowId }) => workflowId)}::uuid[],
        ${versions.map(({ version }) => version)}::integer[]))
      and ${isBehind}
    order by x.id limit ${limit} for update of x`.execute(tx);
  return rows;
}

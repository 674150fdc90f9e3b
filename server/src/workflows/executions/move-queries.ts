// Queries that move executions to another version, and back.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";

/**
 * Returns the current version of a workflow, locked against edits until the end of the transaction.
 * @returns undefined if the workflow was deleted
 */
export async function lockCurrentVersion(
  tx: Tx,
  projectId: string,
  workflowId: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ version: number }>`
    select version from workflows where project_id = ${projectId} and id = ${workflowId} for share`.execute(
    tx,
  );
  return rows[0]?.version;
}

export async function listTraces(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, unknown>> {
  const { rows } = await sql<{ id: string; trace: unknown }>`
    select id, trace from workflow_executions where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    tx,
  );
  return new Map(rows.map(({ id, trace }) => [id, trace]));
}

/** Moves locked executions to another version, with traces for its graph. */
export async function moveExecutionRows(
  tx: Tx,
  projectId: string,
  { version, executions }: { version: number; executions: ReadonlyArray<{ id: string; trace: string }> },
): Promise<void> {
  await sql`
    update workflow_executions x set version = ${version}, trace = i.trace
    from unnest(
      (select ${executions.map(({ id }) => id)}::uuid[]),
      ${executions.map(({ trace }) => trace)}::jsonb[]
    ) as i (id, trace)
    where x.project_id = ${projectId} and x.id = i.id`.execute(tx);
}

/** Which active executions on other versions move. Null means all. */
export interface Selection {
  stepIds: readonly string[] | null;
  versions: readonly number[] | null;
  executionIds: readonly string[] | null;
}

export interface WhichMovable {
  workflowId: string;
  /** The version to which they move. */
  version: number;
  selection: Selection;
}

/** Executions of deleted contacts end anyway, and dropped ones are cancelled. */
function isMovable({ workflowId, version, selection }: WhichMovable): RawBuilder<SqlBool> {
  const { stepIds, versions, executionIds } = selection;
  return sql`x.workflow_id = ${workflowId} and x.status in ('RUNNING', 'WAITING')
    and x.contact_id is not null and x.step_id is not null and x.version <> ${version}
    and (x.exit_reason is null or x.due_at = 'infinity')
    and (${stepIds}::uuid[] is null or x.step_id = any(${stepIds}::uuid[]))
    and (${versions}::integer[] is null or x.version = any(${versions}::integer[]))
    and (${executionIds}::uuid[] is null or x.id = any(${executionIds}::uuid[]))`;
}

export interface MovableGroup {
  version: number;
  stepId: string;
  count: number;
}

/** Counts the executions that can move, by version and step. */
export async function countMovable(
  database: Database,
  projectId: string,
  which: WhichMovable,
): Promise<MovableGroup[]> {
  const { rows } = await sql<MovableGroup>`
    select x.version, x.step_id, count(*) as count from workflow_executions x
    where x.project_id = ${projectId} and ${isMovable(which)}
    group by x.version, x.step_id order by x.version desc, x.step_id`.execute(database);
  return rows;
}

/** Returns the next executions that can move, in the order of the index of active executions. */
export async function listMovable(
  tx: Tx,
  projectId: string,
  which: WhichMovable,
  { after, limit }: { after: string | null; limit: number },
): Promise<Array<{ id: string; contactId: string }>> {
  const isBehind = after === null ? sql`true` : sql`x.contact_id > ${after}`;
  const { rows } = await sql<{ id: string; contactId: string }>`
    select x.id, x.contact_id from workflow_executions x
    where x.project_id = ${projectId} and ${isMovable(which)} and ${isBehind} order by x.contact_id limit ${limit}`.execute(
    tx,
  );
  return rows;
}

export interface StandingRow extends Row<
  "workflow_executions",
  "id" | "version" | "status" | "trace" | "moves"
> {
  stepId: string;
  isHeld: boolean;
  now: Date;
}

const STANDING = sql`x.id, x.version, x.status, x.step_id, x.trace, x.moves, x.due_at is not distinct from 'infinity' as is_held, now() as now`;

/** Locks executions that can still move, and waits for those that the engine is advancing. */
export async function lockMovable(
  tx: Tx,
  projectId: string,
  which: WhichMovable,
  ids: readonly string[],
): Promise<StandingRow[]> {
  const { rows } = await sql<StandingRow>`
    select ${STANDING} from workflow_executions x
    where x.project_id = ${projectId} and ${isMovable(which)} and x.id = any(${ids}::uuid[]) order by x.id for update of x`.execute(
    tx,
  );
  return rows;
}

/** A moved execution. Without a step if it ended. */
export type MovedRow = Omit<StandingRow, "stepId"> & { stepId: string | null };

/** Locks the next executions that a job moved and that have not been moved since. */
export async function lockMovedBy(
  tx: Tx,
  projectId: string,
  {
    workflowId,
    moveId,
    after,
    limit,
  }: { workflowId: string; moveId: string; after: string | null; limit: number },
): Promise<MovedRow[]> {
  const isBehind = after === null ? sql`true` : sql`x.id > ${after}`;
  const { rows } = await sql<MovedRow>`
    select ${STANDING} from workflow_executions x
    where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.moves is not null
      and x.moves -> -1 ->> 'id' = ${moveId} and x.contact_id is not null and ${isBehind}
    order by x.id limit ${limit} for update of x`.execute(tx);
  return rows;
}

/** Returns the ids of ended executions whose contacts have entered the workflow again. */
export async function listReentered(tx: Tx, projectId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select x.id from workflow_executions x
    join workflow_executions o on o.project_id = ${projectId} and o.workflow_id = x.workflow_id and o.contact_id = x.contact_id
      and o.status in ('RUNNING', 'WAITING') and o.id <> x.id
    where x.project_id = ${projectId} and x.id = any(${ids}::uuid[])`.execute(tx);
  return rows.map(({ id }) => id);
}

export interface MovedExecution {
  id: string;
  version: number;
  stepId: string | null;
  status: "RUNNING" | "WAITING" | "EXITED";
  trace: string;
  moves: string;
  exitReason: string | null;
}

/**
 * Stores locked executions on another version. Makes active ones due, so that the engine checks their exit conditions, events and timers
 * there. Keeps the response of a webhook.
 */
export async function updateMovedExecutions(
  tx: Tx,
  projectId: string,
  executions: readonly MovedExecution[],
): Promise<void> {
  await sql`
    with instant as materialized (select now() as at)
    update workflow_executions x set version = i.version, step_id = i.step_id, status = i.status, trace = i.trace, moves = i.moves,
      exit_reason = i.exit_reason, waits_for = null,
      due_at = case when i.status <> 'EXITED' then instant.at end,
      paused_due_at = case when i.status <> 'EXITED' then x.paused_due_at end,
      ended_at = case when i.status = 'EXITED' then instant.at end
    from instant, unnest(
      (select ${executions.map(({ id }) => id)}::uuid[]),
      ${executions.map(({ version }) => version)}::integer[],
      ${executions.map(({ stepId }) => stepId)}::uuid[],
      ${executions.map(({ status }) => status)}::text[],
      ${executions.map(({ trace }) => trace)}::jsonb[],
      ${executions.map(({ moves }) => moves)}::jsonb[],
      ${executions.map(({ exitReason }) => exitReason)}::text[]
    ) as i (id, version, step_id, status, trace, moves, exit_reason)
    where x.project_id = ${projectId} and x.id = i.id`.execute(tx);
  notify(tx, "workflows");
}

// Statements on `workflow_dates`, the times at which contacts enter workflows with the trigger DATE.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { isCluster } from "../../platform/database/cluster.ts";
import { plannedEachTime, plannedOften, type Database, type Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { shownData } from "../../contacts/contacts.ts";

/** An enabled workflow with the trigger DATE. */
export interface DatedWorkflow {
  id: string;
  triggerConfig: TriggerConfig<"DATE">;
  datesSince: Date;
}

/**
 * Returns the enabled workflows with the trigger DATE, or only the one with an id. Locks them against deletion, which waits for their rows in
 * `workflow_dates`.
 */
export async function lockDatedWorkflows(
  tx: Tx,
  projectId: string,
  id: string | null,
): Promise<DatedWorkflow[]> {
  const isAsked = id === null ? sql`true` : sql`id = ${id}`;
  const { rows } = await sql<DatedWorkflow>`
    select id, trigger_config, dates_since from workflows
    where project_id = ${projectId} and dates_since is not null and ${isAsked} order by id for key share`.execute(
    tx,
  );
  return rows;
}

/** Returns the ids of the enabled workflows with the trigger DATE. */
export async function listDatedWorkflowIds(database: Database, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflows where project_id = ${projectId} and dates_since is not null`.execute(database);
  return rows.map((row) => row.id);
}

/** Returns a page of contacts, by id. */
export async function listContactIdsAfter(
  database: Database,
  projectId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> {
  const isBehind = after === null ? sql`true` : sql`id > ${after}`;
  const { rows } = await sql<{ id: string }>`
    select id from contacts where project_id = ${projectId} and ${isBehind} order by id limit ${limit}`.execute(
    database,
  );
  return rows.map((row) => row.id);
}

/** The values of contact `c` for some keys, as an object. */
const valuesOf = (projectId: string, keys: readonly string[]) => sql`coalesce((
  select jsonb_object_agg(key, value) from jsonb_each(${shownData(projectId)}) where key = any(${keys}::text[])), '{}')`;

export interface DatedContact {
  id: string;
  /** The values of the asked keys that the contact has. */
  values: Record<string, unknown>;
}

/**
 * Returns the contacts that have one of the keys or a row in `workflow_dates`. Locks them against changes in the lock order of upserts, so
 * that a later change is processed after this transaction.
 */
export async function lockDatedContacts(
  tx: Tx,
  projectId: string,
  keys: readonly string[],
  contactIds: readonly string[],
): Promise<DatedContact[]> {
  const { rows } = await sql<DatedContact>`
    select c.id, ${valuesOf(projectId, keys)} as values from contacts c
    where c.project_id = ${projectId} and c.id = any(${contactIds}::uuid[])
      and (c.data ?| ${keys}::text[]
        or exists (select 1 from workflow_dates d where d.project_id = ${projectId} and d.contact_id = c.id))
    order by c.email for share of c`.execute(tx);
  return rows;
}

export interface DateRow extends Row<
  "workflow_dates",
  "workflowId" | "contactId" | "occursAt" | "dueAt" | "since"
> {
  fromPublicKey: boolean;
}

const COLUMNS = sql`d.workflow_id, d.contact_id, d.occurs_at, d.due_at, d.since, d.from_public_key is true as from_public_key`;

export async function listDatesOf(
  database: Database,
  projectId: string,
  contactIds: readonly string[],
): Promise<DateRow[]> {
  const { rows } = await sql<DateRow>`
    select ${COLUMNS} from workflow_dates d
    where d.project_id = ${projectId} and d.contact_id = any(${contactIds}::uuid[])`.execute(database);
  return rows;
}

/** Stores the next times of contacts. Keeps rows of a later trigger. */
export async function upsertDates(tx: Tx, projectId: string, dates: readonly DateRow[]): Promise<void> {
  await sql`
    insert into workflow_dates (project_id, workflow_id, contact_id, occurs_at, due_at, since, from_public_key)
    select ${projectId}::uuid, i.workflow_id, i.contact_id, i.occurs_at, i.due_at, i.since, nullif(i.from_public_key, false)
    from unnest(
      (select ${dates.map(({ workflowId }) => workflowId)}::uuid[]),
      ${dates.map(({ contactId }) => contactId)}::uuid[],
      ${dates.map(({ occursAt }) => occursAt.toISOString())}::timestamptz[],
      ${dates.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[],
      ${dates.map(({ since }) => since.toISOString())}::timestamptz[],
      ${dates.map(({ fromPublicKey }) => fromPublicKey)}::boolean[]
    ) as i (workflow_id, contact_id, occurs_at, due_at, since, from_public_key)
    order by i.contact_id, i.workflow_id
    on conflict (project_id, contact_id, workflow_id) do update set occurs_at = excluded.occurs_at, due_at = excluded.due_at,
      since = excluded.since, from_public_key = excluded.from_public_key
    where workflow_dates.since <= excluded.since`.execute(tx);
}

/** Deletes rows unless they belong to a later trigger than the given one. */
export async function deleteDates(
  tx: Tx,
  projectId: string,
  dates: ReadonlyArray<Pick<DateRow, "workflowId" | "contactId" | "since">>,
): Promise<void> {
  await sql`
    delete from workflow_dates d using unnest(
      (select ${dates.map(({ workflowId }) => workflowId)}::uuid[]),
      ${dates.map(({ contactId }) => contactId)}::uuid[],
      ${dates.map(({ since }) => since.toISOString())}::timestamptz[]
    ) as i (workflow_id, contact_id, since)
    where d.project_id = ${projectId} and d.contact_id = i.contact_id and d.workflow_id = i.workflow_id and d.since <= i.since`.execute(
    tx,
  );
}

/** Deletes some rows of earlier triggers of a workflow. Returns their number. */
export async function deleteFormerDates(
  tx: Tx,
  { projectId, workflowId, limit }: { projectId: string; workflowId: string; limit: number },
): Promise<number> {
  const { rows } = await sql`
    delete from workflow_dates d
    where d.project_id = ${projectId} and d.workflow_id = ${workflowId} and d.contact_id = any(array(
      select f.contact_id from workflow_dates f
      join workflows w on w.project_id = f.project_id and w.id = f.workflow_id
      where f.project_id = ${projectId} and f.workflow_id = ${workflowId} and f.since is distinct from w.dates_since
      limit ${limit}))
    returning 1`.execute(tx);
  return rows.length;
}

export async function findValues(
  database: Database,
  projectId: string,
  keys: readonly string[],
  contactId: string,
): Promise<DatedContact["values"]> {
  const { rows } = await sql<DatedContact>`
    select c.id, ${valuesOf(projectId, keys)} as values from contacts c
    where c.project_id = ${projectId} and c.id = ${contactId}`.execute(database);
  return rows[0]?.values ?? {};
}

/** Locks due rows until the end of the transaction, the earliest first. Skips those that another transaction has locked. */
export async function claimDueDates(tx: Tx, projectId: string, limit: number): Promise<DueDateRow[]> {
  const { rows } = await sql<DueDateRow>`
    select ${COLUMNS}, now() as now from workflow_dates d
    where d.project_id = ${projectId} and d.due_at <= now() order by d.due_at limit ${limit} for update skip locked`.execute(
    tx,
  );
  return rows;
}

export interface DueDateRow extends DateRow {
  now: Date;
}

/**
 * Returns the values of contacts for these keys, and locks the contacts against deletion. Skips contacts that another transaction may be
 * deleting, because it waits for their rows here.
 */
export async function lockValuesUnlessLocked(
  tx: Tx,
  projectId: string,
  keys: readonly string[],
  contactIds: readonly string[],
): Promise<Map<string, DatedContact["values"]>> {
  const { rows } = await sql<DatedContact>`
    select c.id, ${valuesOf(projectId, keys)} as values from contacts c
    where c.project_id = ${projectId} and c.id = any(${contactIds}::uuid[]) for key share of c skip locked`.execute(
    tx,
  );
  return new Map(rows.map(({ id, values }) => [id, values]));
}

/** The first due row of a project, in index order. */
const firstDue = (after: RawBuilder<unknown>) => sql`
  select d.project_id, d.due_at from workflow_dates d where true ${after} order by d.project_id, d.due_at limit 1`;

/** Returns the projects with due rows, longest overdue first. Skips from project to project through the index. Ignores disabled projects. */
export async function listProjectsWithDueDates(database: Database): Promise<string[]> {
  if (await isCluster(database)) return listProjectsWithDueDatesOfCluster(database);
  const { rows } = await sql<{ projectId: string }>`
    ${plannedOften} with recursive due as (
      (${firstDue(sql``)})
      union all
      select next.* from due cross join lateral (${firstDue(sql`and d.project_id > due.project_id`)}) next
    )
    select due.project_id from due join projects p on p.id = due.project_id and not p.disabled
    where due.due_at <= now() order by due.due_at`.execute(database);
  return rows.map((row) => row.projectId);
}

/** The same on a cluster, which accepts no recursive query over projects. Each node reads its due rows. */
async function listProjectsWithDueDatesOfCluster(database: Database): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    ${plannedOften} select d.project_id from workflow_dates d join projects p on p.id = d.project_id and not p.disabled
    where d.due_at <= now() group by d.project_id order by min(d.due_at)`.execute(database);
  return rows.map((row) => row.projectId);
}

/** Returns the contacts among these that match a condition on `contacts c`. */
export async function findMatching(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
  matches: RawBuilder<SqlBool>,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    ${plannedEachTime} select c.id from contacts c
    where c.project_id = ${projectId} and c.id = any(${contactIds}::uuid[]) and ${matches}`.execute(tx);
  return new Set(rows.map((row) => row.id));
}

/** Returns the id of the current transaction. */
export async function findTransactionId(tx: Tx): Promise<string> {
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(tx);
  return rows[0]?.id ?? "0";
}

/** Returns whether all transactions that began to write before this one have ended. */
export async function haveEarlierEnded(tx: Tx, transactionId: string): Promise<boolean> {
  const { rows } = await sql<{ haveEnded: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${transactionId}::xid8 as have_ended`.execute(tx);
  return rows[0]?.haveEnded === true;
}

// Queries on `webhook_calls`. Each claim is limited to one project, for fairness and for a sharded database.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { isCluster } from "../platform/database/cluster.ts";
import { plannedOften, type Database, type Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { notify } from "../platform/notify.ts";
import { ofProject } from "../platform/database/of-project.ts";

export interface CallKey {
  projectId: string;
  id: string;
}

export interface NewCallRow extends Row<
  "webhook_calls",
  "projectId" | "id" | "ownerKind" | "ownerId" | "ownerRef" | "url" | "method" | "body"
> {
  headers: string;
}

/** A call that ended under the same id is made again. */
export async function insertCalls(tx: Tx, calls: readonly NewCallRow[]): Promise<void> {
  const column = <Name extends keyof NewCallRow>(name: Name) => calls.map((call) => call[name]);
  await sql`
    insert into webhook_calls as c (project_id, id, owner_kind, owner_id, owner_ref, url, method, headers, body)
    select project_id, id, owner_kind, owner_id, owner_ref, url, method, headers::jsonb, body
    from unnest(${column("projectId")}::uuid[], ${column("id")}::uuid[], ${column("ownerKind")}::text[],
      ${column("ownerId")}::uuid[], ${column("ownerRef")}::text[], ${column("url")}::text[], ${column("method")}::text[],
      ${column("headers")}::text[], ${column("body")}::text[])
      as new (project_id, id, owner_kind, owner_id, owner_ref, url, method, headers, body)
    on conflict (project_id, id) do update set state = 'waiting', tries = 0, due_at = excluded.due_at, claim_id = null, ended_at = null,
      url = excluded.url, method = excluded.method, headers = excluded.headers, body = excluded.body,
      response_status = null, response_body = null, is_cut = false, error = null
    where c.state <> 'waiting' and c.owner_kind = excluded.owner_kind and c.owner_id = excluded.owner_id`.execute(
    tx,
  );
  notify(tx, "webhooks");
}

/** Deletes waiting and running calls. Ended calls stay. */
export async function deleteWaitingCalls(tx: Tx, keys: readonly CallKey[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from webhook_calls c
    using unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as gone (project_id, id)
    where c.project_id = gone.project_id and c.id = gone.id and c.state = 'waiting'
    returning c.id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Deletes an owner's calls that have not ended, except those to one URL. */
export async function deleteWaitingCallsOf(
  tx: Tx,
  owner: { projectId: string; ownerKind: string; ownerId: string; exceptUrl: string | null },
): Promise<void> {
  await sql`
    delete from webhook_calls
    where project_id = ${owner.projectId} and owner_kind = ${owner.ownerKind} and owner_id = ${owner.ownerId}
      and state = 'waiting' and url is distinct from ${owner.exceptUrl}`.execute(tx);
}

/** Deletes all calls of executions, including ended ones. */
export async function deleteCallsOfExecutions(
  tx: Tx,
  projectId: string,
  executionIds: readonly string[],
): Promise<void> {
  await sql`
    delete from webhook_calls
    where project_id = ${projectId} and owner_kind = 'workflow' and owner_id = any(${executionIds}::uuid[])`.execute(
    tx,
  );
}

/** Lists the last calls of an owner, newest first. */
export async function listCallsOf(
  database: Database,
  owner: { projectId: string; ownerKind: string; ownerId: string; limit: number },
) {
  return database
    .selectFrom("webhook_calls")
    .select(["id", "ownerRef", "state", "tries", "responseStatus", "error", "createdAt", "endedAt"])
    .where("projectId", "=", owner.projectId)
    .where("ownerKind", "=", sql<string>`${sql.lit(owner.ownerKind)}`)
    .where("ownerId", "=", owner.ownerId)
    .orderBy("id", "desc")
    .limit(owner.limit)
    .execute();
}

const firstWaiting = (after: RawBuilder<unknown>) => sql`
  select c.project_id, c.due_at from webhook_calls c
  where c.state = 'waiting' and c.due_at < 'infinity' ${after}
  order by c.project_id, c.due_at limit 1`;

/**
 * Returns each project with waiting calls, and the ms until the first one is due (0 or less means now).
 * Skips from project to project through the index of waiting calls. Ignores disabled projects.
 */
export async function listWaitingProjects(
  database: Database,
): Promise<Array<{ projectId: string; dueInMs: number }>> {
  if (await isCluster(database)) return listWaitingProjectsOfCluster(database);
  const { rows } = await sql<{ projectId: string; dueInMs: number }>`
    ${plannedOften} with recursive first as (
      (${firstWaiting(sql``)})
      union all
      select next.* from first f
      cross join lateral (${firstWaiting(sql`and c.project_id > f.project_id`)}) next
    )
    select p.id as project_id, extract(epoch from f.due_at - now())::float8 * 1000 as due_in_ms
    from first f
    cross join lateral (select id from projects where id = f.project_id and not disabled limit 1) p`.execute(
    database,
  );
  return rows;
}

/** The same on a cluster, which accepts no recursive query over projects. Each node reads its waiting calls. */
async function listWaitingProjectsOfCluster(
  database: Database,
): Promise<Array<{ projectId: string; dueInMs: number }>> {
  const { rows } = await sql<{ projectId: string; dueInMs: number }>`
    ${plannedOften} select c.project_id, extract(epoch from min(c.due_at) - now())::float8 * 1000 as due_in_ms
    from webhook_calls c join projects p on p.id = c.project_id and not p.disabled
    where c.state = 'waiting' and c.due_at < 'infinity' group by c.project_id`.execute(database);
  return rows;
}

export interface ClaimedCallRow extends Row<
  "webhook_calls",
  "projectId" | "id" | "url" | "method" | "body" | "tries"
> {
  headers: Record<string, string>;
}

/** Claims the longest overdue calls of a project under a lease, after which they are due again. */
export async function claimCalls(
  database: Database,
  claim: { projectId: string; claimId: string; limit: number; leaseSeconds: number },
): Promise<ClaimedCallRow[]> {
  // Materialized, because a plain subquery may run once per joined row and then claims more.
  const { rows } = await sql<ClaimedCallRow>`
    ${plannedOften} with due as materialized (
      select id from webhook_calls
      where project_id = ${claim.projectId} and state = 'waiting' and due_at <= now()
      order by due_at limit ${claim.limit} for update skip locked
    )
    update webhook_calls c set claim_id = ${claim.claimId}, due_at = now() + make_interval(secs => ${claim.leaseSeconds})
    where c.project_id = ${claim.projectId} and c.id = any (array(select id from due))
    returning c.project_id, c.id, c.url, c.method, c.headers, c.body, c.tries`.execute(database);
  return rows;
}

/** The result of an attempt: ended, or `waiting` for another attempt after some seconds. */
export interface AttemptResult extends CallKey {
  claimId: string;
  state: "waiting" | "done" | "failed";
  waitSeconds: number;
  status: number | null;
  body: string | null;
  isCut: boolean;
  error: string | null;
}

export interface EndedCallRow extends Row<
  "webhook_calls",
  | "projectId"
  | "id"
  | "ownerKind"
  | "ownerId"
  | "ownerRef"
  | "tries"
  | "responseStatus"
  | "responseBody"
  | "isCut"
  | "error"
> {
  state: "waiting" | "done" | "failed";
}

/** Records attempts with a valid claim. Returns their rows. */
export async function updateAttempts(tx: Tx, ends: readonly AttemptResult[]): Promise<EndedCallRow[]> {
  const column = <Name extends keyof AttemptResult>(name: Name) => ends.map((end) => end[name]);
  const { rows } = await sql<EndedCallRow>`
    update webhook_calls c set
      state = t.state, tries = c.tries + 1, claim_id = null,
      due_at = case when t.state = 'waiting' then t.next_at end,
      ended_at = case when t.state = 'waiting' then null else t.at end,
      response_status = t.status, response_body = t.body, is_cut = t.is_cut, error = t.error
    from (
      select o.*, now() as at, now() + make_interval(secs => o.wait_seconds) as next_at
      from unnest(${column("projectId")}::uuid[], ${column("id")}::uuid[], ${column("claimId")}::uuid[],
        ${column("state")}::text[], ${column("waitSeconds")}::float8[], ${column("status")}::smallint[],
        ${column("body")}::text[], ${column("isCut")}::boolean[], ${column("error")}::text[])
        as o (project_id, id, claim_id, state, wait_seconds, status, body, is_cut, error)
      -- Keeps the instant a column, because a cluster accepts no now() beside the columns of an update.
      offset 0) t
    where c.project_id = t.project_id and c.id = t.id and c.claim_id = t.claim_id and c.state = 'waiting'
    returning c.project_id, c.id, c.owner_kind, c.owner_id, c.owner_ref, c.state, c.tries, c.response_status,
      c.response_body, c.is_cut, c.error`.execute(tx);
  return rows;
}

export async function deleteEndedCalls(database: Database, keptDays: number): Promise<void> {
  await sql`delete from webhook_calls where ended_at < now() - make_interval(days => ${keptDays}::integer)`.execute(
    database,
  );
}

const isHeld = sql<SqlBool>`state = 'waiting' and due_at = 'infinity'`;

/** Also clears claims, so that the results of running attempts are discarded. */
export async function updateCallsToHeld(tx: Tx): Promise<void> {
  await sql`
    update webhook_calls set due_at = 'infinity', claim_id = null
    where state = 'waiting' and due_at < 'infinity'`.execute(tx);
}

export async function updateCallsToReleased(tx: Tx, projectId: string | null): Promise<void> {
  await sql`update webhook_calls set due_at = now() where ${isHeld} ${ofProject(projectId)}`.execute(tx);
  notify(tx, "webhooks");
}

export async function updateCallsToDropped(tx: Tx, projectId: string | null, error: string): Promise<void> {
  await sql`
    update webhook_calls set state = 'failed', due_at = null, ended_at = now(), error = ${error}
    where ${isHeld} ${ofProject(projectId)}`.execute(tx);
}

export async function countHeldCalls(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from webhook_calls where ${isHeld}`.execute(database);
  return rows[0]?.count ?? 0;
}

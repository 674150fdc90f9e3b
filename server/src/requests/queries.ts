// Queries on `api_requests`.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import type { PageRequest } from "../platform/http/page.ts";

export type RequestRow = Row<
  "api_requests",
  | "projectId"
  | "id"
  | "requestId"
  | "at"
  | "method"
  | "path"
  | "route"
  | "status"
  | "errorCode"
  | "durationMs"
  | "key"
  | "ip"
  | "userAgent"
  | "body"
  | "bodyBytes"
  | "response"
  | "leftOut"
>;
/** Lists omit the bodies. */
export type ListedRequestRow = Omit<RequestRow, "body" | "bodyBytes" | "response">;

/** Inserts rows, except those of projects deleted meanwhile. */
export async function insertRequests(database: Database, rows: readonly RequestRow[]): Promise<void> {
  await sql`
    insert into api_requests (project_id, id, request_id, at, method, path, route, status, error_code, duration_ms, key, ip,
      user_agent, body, body_bytes, response, left_out)
    select i.* from unnest(
      ${rows.map((row) => row.projectId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.requestId)}::text[], ${rows.map((row) => row.at)}::timestamptz[],
      ${rows.map((row) => row.method)}::text[], ${rows.map((row) => row.path)}::text[],
      ${rows.map((row) => row.route)}::text[], ${rows.map((row) => row.status)}::smallint[],
      ${rows.map((row) => row.errorCode)}::text[], ${rows.map((row) => row.durationMs)}::integer[],
      ${rows.map((row) => row.key)}::text[], ${rows.map((row) => row.ip)}::text[],
      ${rows.map((row) => row.userAgent)}::text[],
      ${rows.map((row) => (row.body === null ? null : JSON.stringify(row.body)))}::jsonb[],
      ${rows.map((row) => row.bodyBytes)}::integer[],
      ${rows.map((row) => (row.response === null ? null : JSON.stringify(row.response)))}::jsonb[], ${rows.map((row) => row.leftOut)}::integer[]
    ) as i (project_id, id, request_id, at, method, path, route, status, error_code, duration_ms, key, ip, user_agent, body,
      body_bytes, response, left_out)
    join projects p on p.id = i.project_id`.execute(database);
}

export interface RequestFilter {
  /** Range of statuses, both ends included. */
  status?: { from: number; to: number };
  method?: string | undefined;
  /** Prefix of the path. */
  path?: string | undefined;
  key?: string | undefined;
  requestId?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export async function listRequestRows(
  database: Database,
  projectId: string,
  filter: RequestFilter,
  { limit, before }: PageRequest,
): Promise<ListedRequestRow[]> {
  const { status, method, path, key, requestId, since, until } = filter;
  const conditions = [
    ...(before === null ? [] : [sql`id < ${before}`]),
    ...(status === undefined ? [] : [sql`status between ${status.from} and ${status.to}`]),
    // Repeated so that the index of failures is used.
    ...(status !== undefined && status.from >= 400 ? [sql`status >= 400`] : []),
    ...(method === undefined ? [] : [sql`method = ${method}`]),
    ...(path === undefined ? [] : [sql`starts_with(path, ${path})`]),
    ...(key === undefined ? [] : [sql`key = ${key}`]),
    ...(requestId === undefined ? [] : [sql`request_id = ${requestId}`]),
    ...(since === undefined ? [] : [sql`at >= ${since}`]),
    ...(until === undefined ? [] : [sql`at <= ${until}`]),
  ];
  const where = sql.join([sql`project_id = ${projectId}`, ...conditions], sql` and `);
  const { rows } = await sql<ListedRequestRow>`
    select project_id, id, request_id, at, method, path, route, status, error_code, duration_ms, key, ip, user_agent, left_out
    from api_requests where ${where} order by id desc limit ${limit + 1}`.execute(database);
  return rows;
}

export async function findRequestRow(
  database: Database,
  projectId: string,
  id: string,
): Promise<RequestRow | undefined> {
  const { rows } = await sql<RequestRow>`
    select * from api_requests where project_id = ${projectId} and id = ${id}`.execute(database);
  return rows[0];
}

/**
 * Deletes the oldest requests after `days`.
 * @returns the number of deleted rows
 */
export async function deleteOldRequests(database: Database, days: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select project_id, id from api_requests where at < now() - make_interval(days => ${days}::integer)
      order by at limit ${limit} for update skip locked
    )
    delete from api_requests r using old where r.project_id = old.project_id and r.id = old.id`.execute(
    database,
  );
  return Number(numAffectedRows ?? 0);
}

// Statements that list, resend and delete deliveries.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import type { PageRequest } from "../platform/http/page.ts";
import { notify } from "../platform/notify.ts";
import type { DeliveryState, EndpointKey } from "./delivery-queries.ts";
import type { LogRow } from "./log-queries.ts";

export type DeliveryRow = Row<
  "event_deliveries",
  "id" | "number" | "tries" | "dueAt" | "responseStatus" | "error" | "durationMs" | "createdAt" | "endedAt"
> & { state: DeliveryState; type: string };

const LISTED = sql`d.id, d.number, d.state, d.tries, d.due_at, d.response_status, d.error, d.duration_ms, d.created_at, d.ended_at`;

/** Returns `limit + 1` deliveries in some of the states, newest first. Reads up to as many index entries of each state. */
export async function listDeliveryRows(
  database: Database,
  { projectId, id }: EndpointKey,
  states: readonly DeliveryState[],
  { limit, before }: PageRequest,
): Promise<DeliveryRow[]> {
  const older = before === null ? sql`` : sql`and d.id < ${before}`;
  const pages = states.map(
    (state) => sql`(
      select ${LISTED} from event_deliveries d
      where d.project_id = ${projectId} and d.endpoint_id = ${id} and d.state = ${sql.lit(state)} ${older}
      order by d.id desc limit ${limit + 1})`,
  );
  const { rows } = await sql<DeliveryRow>`
    select ${LISTED}, l.type from (${sql.join(pages, sql` union all `)}) d
    join event_log l on l.project_id = ${projectId} and l.number = d.number
    order by d.id desc limit ${limit + 1}`.execute(database);
  return rows;
}

export interface DeliveryDetailRow
  extends DeliveryRow, Row<"event_deliveries", "previous" | "responseBody">, Pick<LogRow, "data"> {
  url: string;
  eventId: string;
  eventCreatedAt: Date;
}

export async function findDelivery(
  database: Database,
  { projectId, id }: EndpointKey,
  deliveryId: string,
): Promise<DeliveryDetailRow | undefined> {
  const { rows } = await sql<DeliveryDetailRow>`
    select ${LISTED}, d.previous, d.response_body, e.url, l.id as event_id, l.type, l.data, l.created_at as event_created_at
    from event_deliveries d
    join webhook_endpoints e on e.project_id = d.project_id and e.id = d.endpoint_id
    join event_log l on l.project_id = d.project_id and l.number = d.number
    where d.project_id = ${projectId} and d.endpoint_id = ${id} and d.id = ${deliveryId}`.execute(database);
  return rows[0];
}

const AGAIN = sql`state = 'waiting', due_at = now(), ended_at = null, first_failed_at = null, tries = 0, claim_id = null`;

/** Makes a delivery due, unless a call of it is running. */
export async function updateToResend(
  tx: Tx,
  { projectId, id }: EndpointKey,
  deliveryId: string,
): Promise<void> {
  await sql`
    update event_deliveries set ${AGAIN}
    where project_id = ${projectId} and endpoint_id = ${id} and id = ${deliveryId}
      and (state <> 'waiting' or claim_id is null or due_at <= now())`.execute(tx);
  notify(tx, "stream");
}

/** Makes the oldest failed deliveries due. Returns how many, and whether more have failed. */
export async function updateFailedToResend(
  tx: Tx,
  { projectId, id }: EndpointKey,
  limit: number,
): Promise<{ resent: number; hasMore: boolean }> {
  const failed = sql`project_id = ${projectId} and endpoint_id = ${id} and state = 'failed'`;
  const updated = await sql`
    update event_deliveries set ${AGAIN}
    where project_id = ${projectId} and id = any(array(
      select id from event_deliveries where ${failed} order by id limit ${limit}))`.execute(tx);
  const { rows } = await sql<{ hasMore: boolean }>`
    select exists (select 1 from event_deliveries where ${failed}) as has_more`.execute(tx);
  notify(tx, "stream");
  return { resent: Number(updated.numAffectedRows ?? 0), hasMore: rows[0]?.hasMore ?? false };
}

/** Deletes up to `limit` of the oldest deliveries that ended days ago, except those resent meanwhile. Returns how many. */
export async function deleteEndedDeliveries(
  database: Database,
  { keptDays, limit }: { keptDays: number; limit: number },
): Promise<number> {
  const isOld = (name: string) => sql`${sql.ref(name)} < now() - make_interval(days => ${keptDays}::integer)`;
  const { numAffectedRows } = await sql`
    with old as materialized (
      select project_id, id from event_deliveries where ${isOld("ended_at")} order by ended_at limit ${limit}
    )
    delete from event_deliveries d using old
    where d.project_id = old.project_id and d.id = old.id and ${isOld("d.ended_at")}`.execute(database);
  return Number(numAffectedRows ?? 0);
}

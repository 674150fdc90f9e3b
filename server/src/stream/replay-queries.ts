// Statements that replay events.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import type { EndpointKey } from "./delivery-queries.ts";

/** Locks an endpoint before its deliveries, in the order of `updateAttempt`. Returns whether it exists. */
export async function lockEndpoint(tx: Tx, { projectId, id }: EndpointKey): Promise<boolean> {
  const { rows } = await sql`
    select 1 from webhook_endpoints where project_id = ${projectId} and id = ${id} for update`.execute(tx);
  return rows.length > 0;
}

/**
 * Returns the number before the first event that was recorded since a time, or undefined if there is none. Begins a minute earlier, the
 * longest duration of a transaction, because an event can commit after a later one was recorded.
 */
export async function findNumberBefore(
  database: Database,
  projectId: string,
  since: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ number: number }>`
    select number - 1 as number from event_log
    where project_id = ${projectId} and recorded_at >= ${since}::timestamptz - interval '1 minute'
    order by recorded_at, number limit 1`.execute(database);
  return rows[0]?.number;
}

/** Moves an endpoint back to a number, and deletes the waiting deliveries above it, which are prepared again. */
export async function updateToReplay(tx: Tx, { projectId, id }: EndpointKey, after: number): Promise<void> {
  await sql`
    delete from event_deliveries
    where project_id = ${projectId} and endpoint_id = ${id} and state = 'waiting' and number > ${after}`.execute(
    tx,
  );
  await sql`
    update webhook_endpoints set position = ${after}, previous = ${after}
    where project_id = ${projectId} and id = ${id} and position > ${after}`.execute(tx);
  notify(tx, "stream");
}

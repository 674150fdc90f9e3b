// Statements on `webhook_endpoints`, except those that deliver.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { notify } from "../platform/notify.ts";

const SHOWN = [
  "id",
  "url",
  "description",
  "eventTypes",
  "ordered",
  "tags",
  "addresses",
  "batchSize",
  "callsPerSecond",
  "enabled",
  "disabledReason",
  "failingSince",
  "position",
  "createdAt",
  "updatedAt",
] as const;

export type EndpointRow = Row<"webhook_endpoints", (typeof SHOWN)[number]>;

export async function listEndpointRows(database: Database, projectId: string): Promise<EndpointRow[]> {
  return database
    .selectFrom("webhook_endpoints")
    .select(SHOWN)
    .where("projectId", "=", projectId)
    .orderBy("id")
    .execute();
}

export async function findEndpoint(
  database: Database,
  projectId: string,
  id: string,
): Promise<EndpointRow | undefined> {
  return database
    .selectFrom("webhook_endpoints")
    .select(SHOWN)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export interface NewEndpointRow extends Row<
  "webhook_endpoints",
  | "projectId"
  | "id"
  | "url"
  | "description"
  | "eventTypes"
  | "enabled"
  | "ordered"
  | "tags"
  | "addresses"
  | "batchSize"
  | "callsPerSecond"
  | "sealed"
> {}

/** Inserts an endpoint that receives the events after the last number. */
export async function insertEndpoint(tx: Tx, endpoint: NewEndpointRow): Promise<EndpointRow> {
  const lastNumber = sql<number>`(select last_number from event_streams where project_id = ${endpoint.projectId})`;
  return tx
    .insertInto("webhook_endpoints")
    .values({ ...endpoint, position: lastNumber, previous: lastNumber })
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
}

export type EndpointChanges = Partial<
  Row<
    "webhook_endpoints",
    | "url"
    | "description"
    | "eventTypes"
    | "enabled"
    | "ordered"
    | "tags"
    | "addresses"
    | "batchSize"
    | "callsPerSecond"
  >
>;

/** Changes an endpoint. Enabling it forgets its failures. */
export async function updateEndpoint(
  tx: Tx,
  projectId: string,
  id: string,
  { enabled, ...changes }: EndpointChanges,
): Promise<EndpointRow> {
  if (enabled === true) await retryNow(tx, projectId, id);
  return tx
    .updateTable("webhook_endpoints")
    .set({
      ...changes,
      ...(enabled === undefined ? {} : { enabled, disabledReason: null }),
      ...(enabled === true ? { failingSince: null } : {}),
      updatedAt: sql`now()`,
    })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
}

/** Makes the waiting deliveries of a disabled endpoint due, with three more days. */
async function retryNow(tx: Tx, projectId: string, endpointId: string): Promise<void> {
  await sql`
    update event_deliveries d set due_at = now(), first_failed_at = null, claim_id = null
    from webhook_endpoints e
    where e.project_id = ${projectId} and e.id = ${endpointId} and not e.enabled
      and d.project_id = ${projectId} and d.endpoint_id = ${endpointId} and d.state = 'waiting'`.execute(tx);
  notify(tx, "stream");
}

/** Deletes an endpoint with its deliveries. Returns its URL, or undefined if it does not exist. */
export async function deleteEndpointRow(tx: Tx, projectId: string, id: string): Promise<string | undefined> {
  const deleted = await tx
    .deleteFrom("webhook_endpoints")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning("url")
    .executeTakeFirst();
  return deleted?.url;
}

/** Replaces the secret, which becomes the former one. */
export async function updateEndpointSecret(
  tx: Tx,
  projectId: string,
  id: string,
  sealed: Buffer,
): Promise<EndpointRow | undefined> {
  return tx
    .updateTable("webhook_endpoints")
    .set({ sealed, formerSealed: sql`sealed`, secretMadeAt: sql`now()`, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning(SHOWN)
    .executeTakeFirst();
}

/** The URL and the secrets of an endpoint as they are stored. */
export interface CallableRow extends Row<
  "webhook_endpoints",
  "url" | "batchSize" | "sealed" | "formerSealed"
> {}

export async function findCallable(
  database: Database,
  projectId: string,
  id: string,
  formerHours: number,
): Promise<CallableRow | undefined> {
  const { rows } = await sql<CallableRow>`
    select url, batch_size, sealed,
      case when secret_made_at > now() - make_interval(hours => ${formerHours}::integer) then former_sealed end as former_sealed
    from webhook_endpoints where project_id = ${projectId} and id = ${id}`.execute(database);
  return rows[0];
}

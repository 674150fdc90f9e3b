// The deliveries of a webhook endpoint: list, read, resend, delete by age.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { AppError } from "../platform/app-error.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { readPage, toPage } from "../platform/http/page.ts";
import { isId } from "../platform/ids.ts";
import { lockProject } from "../projects/projects.ts";
import { maskUrl } from "../webhooks/webhook-vault.ts";
import {
  deleteEndedDeliveries,
  findDelivery,
  listDeliveryRows,
  updateFailedToResend,
  updateToResend,
  type DeliveryDetailRow,
  type DeliveryRow,
} from "./delivery-log-queries.ts";
import type { DeliveryState, EndpointKey } from "./delivery-queries.ts";
import { findEndpoint } from "./endpoint-queries.ts";
import { presentEvent } from "./numbered-log.ts";

const DELETED_AT_ONCE = 5_000;
/** Deletions per sweep. The next sweep continues. */
const MAX_DELETIONS = 200;
const ALL_STATES: readonly DeliveryState[] = ["waiting", "done", "failed"];

function present(row: DeliveryRow) {
  return {
    id: row.id,
    number: row.number,
    type: row.type,
    state: row.state,
    tries: row.tries,
    nextTryAt: row.dueAt?.toISOString() ?? null,
    status: row.responseStatus,
    error: row.error,
    durationMs: row.durationMs,
    createdAt: row.createdAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

function presentDetail(projectId: string, row: DeliveryDetailRow) {
  const { number, type, data, eventId: id, eventCreatedAt: createdAt } = row;
  const body = presentEvent(projectId, { id, number, type, data, createdAt }, row.previous);
  const request = { method: "POST" as const, url: maskUrl(row.url), body };
  return { ...present(row), request, responseBody: row.responseBody };
}

async function requireEndpoint(database: Database, { projectId, id }: EndpointKey): Promise<void> {
  const found = isId(id) ? await findEndpoint(database, projectId, id) : undefined;
  if (found === undefined) throw new AppError("RESOURCE_NOT_FOUND");
}

/** Returns a page of deliveries, newest first. @throws AppError RESOURCE_NOT_FOUND, or BAD_REQUEST for a wrong cursor */
export async function listDeliveries(
  database: Database,
  key: EndpointKey,
  {
    state,
    ...query
  }: { state?: DeliveryState | undefined; limit?: number | undefined; cursor?: string | undefined },
) {
  const request = readPage("deliveries", query);
  await requireEndpoint(database, key);
  const states = state === undefined ? ALL_STATES : [state];
  return toPage("deliveries", request, await listDeliveryRows(database, key, states, request), present);
}

/** Returns a delivery with its request and response. @throws AppError RESOURCE_NOT_FOUND */
export async function getDelivery(database: Database, key: EndpointKey, deliveryId: string) {
  const row = [key.id, deliveryId].every(isId) ? await findDelivery(database, key, deliveryId) : undefined;
  if (row === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  return presentDetail(key.projectId, row);
}

/** Sends an event again now, unless a call of this delivery is running. @throws AppError RESOURCE_NOT_FOUND */
export async function resendDelivery(tx: Tx, key: EndpointKey, deliveryId: string) {
  if ([key.id, deliveryId].every(isId)) await updateToResend(tx, key, deliveryId);
  return getDelivery(tx, key, deliveryId);
}

/** Sends the oldest failed events again. Returns how many, and whether more remain. @throws AppError RESOURCE_NOT_FOUND */
export async function resendFailed(tx: Tx, key: EndpointKey) {
  // Changes of many deliveries of one endpoint run one after another.
  await lockProject(tx, key.projectId);
  await requireEndpoint(tx, key);
  return updateFailedToResend(tx, key, LIMITS.waitingDeliveries.value);
}

/** Deletes ended deliveries that are older than their retention, in bounded steps. */
export async function sweepDeliveries(database: Database): Promise<void> {
  const step = { keptDays: LIMITS.eventDeliveryDays.value, limit: DELETED_AT_ONCE };
  for (let times = 0; times < MAX_DELETIONS; times++)
    if ((await deleteEndedDeliveries(database, step)) < DELETED_AT_ONCE) break;
}

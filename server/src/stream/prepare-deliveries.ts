// Adds a delivery for each numbered event that an endpoint is to receive, and moves the position of the endpoint.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Tx } from "../platform/database/database.ts";
import {
  insertDeliveries,
  listFilteredAfter,
  lockEndpointProgress,
  type EndpointKey,
} from "./delivery-queries.ts";
import { chainMatches } from "./rules.ts";

/** Events per step. */
const SCANNED = 500;

/** Prepares one batch. Returns whether there may be more that can be prepared now. */
export async function prepareDeliveries(tx: Tx, endpoint: EndpointKey): Promise<boolean> {
  const most = LIMITS.waitingDeliveries.value;
  const found = await lockEndpointProgress(tx, endpoint, most);
  if (found === undefined || found.waiting >= most) return false;
  const limit = Math.min(SCANNED, most - found.waiting);
  const events = await listFilteredAfter(tx, endpoint.projectId, {
    after: found.position,
    limit,
    withTags: found.tags !== null,
    withAddresses: found.addresses !== null,
  });
  const last = events.at(-1);
  if (last === undefined) return false;
  // Deleted events are a gap that the consumer must notice, because some of them may have matched.
  const before = found.position < found.firstNumber - 1 ? found.firstNumber - 1 : found.previous;
  const { matches, previous } = chainMatches(events, found, before);
  await insertDeliveries(tx, endpoint, matches, { position: last.number, previous });
  return events.length === limit;
}

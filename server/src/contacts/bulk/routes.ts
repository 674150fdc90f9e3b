// HTTP routes for bulk changes of contacts.
import * as contract from "@postloft/contract/contact-bulk.ts";
import type { BulkOperation } from "@postloft/contract/contact-bulk.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { ok, route, type Call, type Route } from "../../platform/http/route.ts";
import type { Membership } from "../list-contacts.ts";
import { getBulk, settingFields, startBulk, type BulkChange, type BulkTarget } from "./bulk-changes.ts";

/** A call of any operation, without the fields of its own. */
type BulkCall = Call<typeof contract.bulkSubscribe>;

export interface BulkDependencies {
  database: Database;
  /**
   * Checks the segment that contacts are added to, and returns its id. Provided by a later folder.
   * @throws AppError SEGMENT_NOT_FOUND, or CONFLICT for a dynamic segment.
   */
  requireStatic(database: Database, projectId: string, segmentId: string): Promise<string>;
}

export function contactBulkRoutes(parts: BulkDependencies & Membership): Route[] {
  const { database } = parts;
  /** Checks the change in the transaction, because a repeated call returns the first response even if the change is no longer possible. */
  const start = async (
    { projectId, userId, body, commit }: BulkCall,
    changeIn: (tx: Tx) => Promise<BulkChange>,
  ) =>
    commit(async (tx) => {
      const change = await changeIn(tx);
      const input = { ...change, actor: userId ?? "key" };
      const jobId = await startBulk(tx, projectId, input, targetOf(body), parts);
      const message = `Queued: the contacts will be ${PAST[change.operation]}.`;
      return { status: 202, body: { message, jobId } };
    });
  return [
    route(contract.bulkSubscribe, async (call) => start(call, async () => ({ operation: "subscribe" }))),
    route(contract.bulkUnsubscribe, async (call) => start(call, async () => ({ operation: "unsubscribe" }))),
    route(contract.bulkDelete, async (call) => start(call, async () => ({ operation: "delete" }))),
    route(contract.bulkUpdate, async (call) => start(call, async () => settingFields(call.body.data))),
    route(contract.bulkAddToSegment, async (call) =>
      start(call, async (tx) => ({
        operation: "addToSegment",
        segmentId: await parts.requireStatic(tx, call.projectId, call.body.targetSegmentId),
      })),
    ),
    route(contract.getBulk, async ({ projectId, params }) =>
      ok(await getBulk(database, projectId, params.jobId)),
    ),
  ];
}

const PAST: Readonly<Record<BulkOperation, string>> = {
  subscribe: "subscribed",
  unsubscribe: "unsubscribed",
  delete: "deleted",
  update: "updated",
  addToSegment: "added to the segment",
};

/** Returns the contacts that the body selects. The contract accepts exactly one form of selection. */
function targetOf({ contactIds, filter, excludeIds = [], all }: BulkCall["body"]): BulkTarget {
  if (contactIds !== undefined) return { contactIds };
  if (all === true || filter?.all === true) return { filter: {}, excludeIds };
  if (filter === undefined) throw new Error("A bulk change selects no contacts.");
  return { filter, excludeIds };
}

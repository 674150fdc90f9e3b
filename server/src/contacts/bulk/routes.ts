// HTTP routes for bulk changes of contacts.
import type { BulkOperation } from "@postloft/contract/contact-bulk.ts";
import * as contract from "@postloft/contract/contact-bulk.ts";
import type { Database } from "../../platform/database/database.ts";
import { ok, route, type Call, type Route } from "../../platform/http/route.ts";
import type { Membership } from "../list-contacts.ts";
import { getBulk, startBulk, type BulkTarget } from "./bulk-changes.ts";

type BulkCall = Call<typeof contract.bulkSubscribe>;

export interface BulkDependencies {
  database: Database;
}

export function contactBulkRoutes(parts: BulkDependencies & Membership): Route[] {
  const { database } = parts;
  const start = (operation: BulkOperation) => async (call: BulkCall) => {
    const { projectId, userId, body, commit } = call;
    return commit(async (tx) => {
      const input = { operation, actor: userId ?? "key" };
      const jobId = await startBulk(tx, projectId, input, targetOf(body), parts);
      return { status: 202, body: { message: `Queued: the contacts will be ${PAST[operation]}.`, jobId } };
    });
  };
  return [
    route(contract.bulkSubscribe, start("subscribe")),
    route(contract.bulkUnsubscribe, start("unsubscribe")),
    route(contract.bulkDelete, start("delete")),
    route(contract.getBulk, async ({ projectId, params }) =>
      ok(await getBulk(database, projectId, params.jobId)),
    ),
  ];
}

const PAST: Readonly<Record<BulkOperation, string>> = {
  subscribe: "subscribed",
  unsubscribe: "unsubscribed",
  delete: "deleted",
};

/** Returns the contacts that the body selects. The contract accepts exactly one form of selection. */
function targetOf({ contactIds, filter, excludeIds = [], all }: BulkCall["body"]): BulkTarget {
  if (contactIds !== undefined) return { contactIds };
  if (all === true || filter?.all === true) return { filter: {}, excludeIds };
  if (filter === undefined) throw new Error("A bulk change selects no contacts.");
  return { filter, excludeIds };
}

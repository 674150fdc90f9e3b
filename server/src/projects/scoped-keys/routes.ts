// HTTP for scoped keys: endpoint → verb → answer.
import * as contract from "@postloft/contract/keys.ts";
import type { Database } from "../../platform/database.ts";
import { created, noContent, ok, route, type Route } from "../../platform/http-route.ts";
import { actorOf } from "../../audit/audit-log.ts";
import { createKey, listKeys, revokeKey } from "./scoped-keys.ts";

export function scopedKeyRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.listKeys, async ({ projectId }) => ok(await listKeys(database, projectId))),
    route(contract.createKey, async (call) =>
      call.commit(async (tx) => {
        const by = { projectId: call.projectId, userId: call.userId, actor: actorOf(call) };
        return created(await createKey(tx, by, call.body));
      }),
    ),
    route(contract.revokeKey, async (call) =>
      call.commit(async (tx) => {
        await revokeKey(tx, call.projectId, call.params.keyId, actorOf(call));
        return noContent();
      }),
    ),
  ];
}

// HTTP routes for scoped keys.
import * as contract from "@postloft/contract/keys.ts";
import type { Database } from "../../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../../platform/http/route.ts";
import { actorOf } from "../../audit/audit-log.ts";
import { createKey, listKeys, revokeKey } from "./scoped-keys.ts";

export function scopedKeyRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.listKeys, async ({ projectId, userId, role }) =>
      ok(await listKeys(database, { projectId, userId, role: role ?? "MEMBER" })),
    ),
    route(contract.createKey, async (call) =>
      call.commit(async (tx) => {
        return created(await createKey(tx, byMember(call), call.body));
      }),
    ),
    route(contract.revokeKey, async (call) =>
      call.commit(async (tx) => {
        await revokeKey(tx, byMember(call), call.params.keyId);
        return noContent();
      }),
    ),
  ];
}

function byMember(call: { projectId: string; userId: string; ip: string | undefined }) {
  return { projectId: call.projectId, userId: call.userId, actor: actorOf(call) };
}

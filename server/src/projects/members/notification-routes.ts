// HTTP routes for notification settings.
import * as contract from "@postloft/contract/notifications.ts";
import type { Database } from "../../platform/database/database.ts";
import { ok, route, type Route } from "../../platform/http/route.ts";
import { chooseNotifications, readNotifications } from "./notifications.ts";

export function notificationRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.listNotifications, async ({ projectId, userId }) =>
      ok(await readNotifications(database, { projectId, userId })),
    ),
    route(contract.updateNotifications, async ({ projectId, userId, body, commit }) =>
      commit(async (tx) => ok(await chooseNotifications(tx, { projectId, userId }, body))),
    ),
  ];
}

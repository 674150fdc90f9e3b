// HTTP for the activity feed: endpoint → verb → answer.
import * as contract from "@postloft/contract/activity.ts";
import type { Database } from "../platform/database.ts";
import { ok, route, type Route } from "../platform/http-route.ts";
import { readPage } from "../platform/page.ts";
import { countRecentActivity, listActivity, listUpcoming } from "./activity.ts";

export function activityRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.listActivity, async ({ projectId, query }) => {
      const { type: types, since, until, ...plain } = query;
      const asked = {
        ...plain,
        types,
        since: since === undefined ? undefined : new Date(since),
        until: until === undefined ? undefined : new Date(until),
      };
      return ok(await listActivity(database, projectId, asked, readPage("activity", query)));
    }),
    route(contract.countRecentActivity, async ({ projectId, query }) =>
      ok(await countRecentActivity(database, projectId, query.minutes)),
    ),
    route(contract.listActivityTypes, async () => ok({ types: contract.ACTIVITY_TYPES })),
    route(contract.listUpcomingActivity, async ({ projectId }) =>
      ok(await listUpcoming(database, projectId)),
    ),
  ];
}

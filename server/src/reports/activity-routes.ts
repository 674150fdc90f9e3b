// HTTP routes of the activity feed.
import * as contract from "@postloft/contract/activity.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { EVENT_STREAM_HEADERS } from "../platform/http/stream-headers.ts";
import { isId } from "../platform/ids.ts";
import { readPage } from "../platform/http/page.ts";
import { countRecentActivity, listActivity, listUpcoming } from "./activity.ts";
import type { LiveActivity } from "./live-activity.ts";

export function activityRoutes({ database, live }: { database: Database; live: LiveActivity }): Route[] {
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
    route(contract.streamActivity, async (call) => {
      const { method, headers } = call;
      if (method === "HEAD") return { ...ok(""), headers: EVENT_STREAM_HEADERS };
      const after = headers["last-event-id"];
      const stream = await live.follow(
        call,
        typeof after === "string" && isId(after) ? after.toLowerCase() : null,
      );
      return { ...ok(stream), headers: EVENT_STREAM_HEADERS };
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

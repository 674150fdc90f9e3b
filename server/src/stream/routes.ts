// HTTP routes of the event stream.
import * as stream from "@postloft/contract/event-stream.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { readStream } from "./numbered-log.ts";

export function eventStreamRoutes({ database }: { database: Database }): Route[] {
  return [
    route(stream.streamEvents, async ({ projectId, query }) =>
      ok(await readStream(database, projectId, query)),
    ),
  ];
}

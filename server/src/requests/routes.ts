// HTTP routes of the request log.
import * as contract from "@postloft/contract/requests.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import { getRequest, listRequests } from "./request-log.ts";

export function requestRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.listRequests, async ({ projectId, query }) => {
      const { limit, cursor, status, ...filter } = query;
      const wanted = { ...filter, ...(status === undefined ? {} : { status: rangeOf(status) }) };
      return ok(await listRequests(database, projectId, wanted, readPage("requests", { limit, cursor })));
    }),
    route(contract.getRequest, async ({ projectId, params }) =>
      ok(await getRequest(database, projectId, params.id)),
    ),
  ];
}

/** Parses `4xx` or `422`. */
function rangeOf(status: string): { from: number; to: number } {
  const from = Number(status.replace("xx", "00"));
  return { from, to: status.endsWith("xx") ? from + 99 : from };
}

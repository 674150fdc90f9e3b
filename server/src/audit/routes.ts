// HTTP routes for the audit log.
import * as contract from "@postloft/contract/audit.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import { listAuditLog } from "./audit-log.ts";

export function auditRoutes({ database }: { database: Database }): Route[] {
  return [
    route(contract.listAuditLog, async ({ projectId, query: { limit, cursor, ...filter } }) =>
      ok(await listAuditLog(database, projectId, filter, readPage("audit", { limit, cursor }))),
    ),
  ];
}

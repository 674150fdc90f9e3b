// HTTP routes for the Amazon SNS hook and project reputation.
import * as security from "@postloft/contract/security.ts";
import { receiveSns } from "@postloft/contract/webhooks.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { readSecurity } from "./reputation.ts";
import type { SnsEndpoint } from "./sns.ts";

export function webhookRoutes({ sns }: { sns: SnsEndpoint }): Route[] {
  return [
    route(receiveSns, async ({ body }) => {
      await sns.receive(body);
      return ok({ success: true });
    }),
  ];
}

export function securityRoutes({ database }: { database: Database }): Route[] {
  return [
    route(security.getOwnSecurity, async ({ projectId }) => ok(await readSecurity(database, projectId))),
    route(security.getSecurity, async ({ projectId }) => ok(await readSecurity(database, projectId))),
  ];
}

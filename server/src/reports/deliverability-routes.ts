// HTTP routes of deliverability.
import * as contract from "@postloft/contract/deliverability.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import type { Domains } from "../domains/domains.ts";
import { getDeliverability } from "./deliverability.ts";

const DEFAULT_DAYS = 30;

export function deliverabilityRoutes(parts: {
  database: Database;
  domains: Pick<Domains, "list">;
  /** Null if this installation receives no email. */
  inboundDomain: string | null;
}): Route[] {
  const { database, domains, inboundDomain } = parts;
  return [
    route(contract.getDeliverability, async ({ projectId, query }) =>
      ok(
        await getDeliverability(database, projectId, {
          domains: await domains.list(projectId),
          reportAddress: inboundDomain === null ? null : `dmarc@${inboundDomain}`,
          days: query.days ?? DEFAULT_DAYS,
        }),
      ),
    ),
  ];
}

// Asks DNS about verified domains for the instance admin, without storing the results.
import type { Database } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import { askRecords } from "./ask-records.ts";
import { countVerifiedDomains, listVerifiedDomains } from "./queries.ts";
import { evaluateProof } from "./rules.ts";

const AT_ONCE = 10;

export interface InspectedDomain {
  projectId: string;
  domain: string;
  /** `unknown`: DNS did not answer. */
  proof: "found" | "missing" | "unknown";
}

/** Checks up to `limit` verified domains, chosen at random. `left`: how many were not checked. */
export async function inspectDomains(
  database: Database,
  dns: Dns,
  limit: number,
): Promise<{ inspected: InspectedDomain[]; left: number }> {
  const rows = await listVerifiedDomains(database, limit);
  const inspected: InspectedDomain[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
        const { found } = await askRecords(dns, row);
        const { projectId, domain } = row;
        inspected.push({ projectId, domain, proof: evaluateProof(row, found).proof });
      }
    }),
  );
  return { inspected, left: Math.max(0, (await countVerifiedDomains(database)) - inspected.length) };
}

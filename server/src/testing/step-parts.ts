// Makes what the engine needs to take steps, for tests and benchmarks that advance executions themselves.
import { createDomains } from "../domains/domains.ts";
import { createSealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import { createDns } from "../platform/dns.ts";
import { createLog } from "../platform/log.ts";
import type { StepParts } from "../workflows/executions/database-environment.ts";

/** Public keys have no limits. @param staysHere whether emails stay here, so that their domains need no key */
export function stepPartsOf(database: Database, appSecret: string, staysHere = true): StepParts {
  const sealer = createSealer(appSecret);
  const domains = createDomains({
    database,
    sealer,
    dns: createDns([]),
    log: createLog({ level: "silent" }),
    staysHere,
    returnPath: null,
    baseUrl: () => "https://post.example",
  });
  const publicKeyLimits = {
    PUBLIC_KEY_EMAILS_PER_HOUR: 0,
    PUBLIC_KEY_EMAILS_PER_DAY: 0,
    PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: 0,
  };
  return { domains, sealer, publicKeyLimits, baseUrl: () => "" };
}

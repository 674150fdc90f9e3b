// Makes what the engine needs to take steps, for tests that advance executions themselves.
import { createDomains } from "../domains/domains.ts";
import { createSealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import { createDns } from "../platform/dns.ts";
import { createLog } from "../platform/log.ts";
import type { StepParts } from "../workflows/executions/database-environment.ts";
import { APP_SECRET } from "./test-server.ts";

/** Emails stay here, and public keys have no limits. */
export function stepPartsOf(database: Database): StepParts {
  const sealer = createSealer(APP_SECRET);
  const domains = createDomains({
    database,
    sealer,
    dns: createDns([]),
    log: createLog({ level: "silent" }),
    staysHere: true,
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

// POST /v1/verify: queries DNS about an address's domain, once for concurrent requests, and caches the result. Writes nothing.
import { LRUCache } from "lru-cache";
import { domainOf } from "@postloft/contract/address.ts";
import type { Verification } from "@postloft/contract/verify.ts";
import type { Dns } from "../platform/dns.ts";
import {
  verifyAddress,
  readDomain,
  unknownDomain,
  type DomainAnswers,
  type DomainFacts,
} from "./verify-rules.ts";

export interface VerifierOptions {
  dns: Dns;
  /** A monotonic clock in ms, `performance.now` by default. */
  nowMs?: () => number;
}

const MAX_KEPT_DOMAINS = 10_000;
/** Each lookup is four queries. More at a time would only queue in the resolver. */
const MAX_LOOKUPS = 250;
const KEPT_MS = { receives: 3_600_000, receivesNot: 300_000, trouble: 30_000 };

/** Returns a function that verifies a canonical address. Never throws for DNS, and takes as long as one DNS query (at most 4.5 s). */
export function createVerifier({ dns, nowMs = () => performance.now() }: VerifierOptions) {
  const known = new LRUCache<string, DomainFacts>({
    max: MAX_KEPT_DOMAINS,
    ttl: KEPT_MS.trouble,
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  const inFlight = new Map<string, Promise<DomainFacts>>();

  async function lookUp(domain: string): Promise<DomainFacts> {
    const [MX, A, AAAA, NS] = await Promise.all([
      dns.records(domain, "MX"),
      dns.records(domain, "A"),
      dns.records(domain, "AAAA"),
      dns.records(domain, "NS"),
    ]);
    const responses: DomainAnswers = { MX, A, AAAA, NS };
    const facts = readDomain(responses);
    known.set(domain, facts, { ttl: keptMs(facts) });
    return facts;
  }

  async function factsOf(domain: string): Promise<DomainFacts> {
    const facts = known.get(domain) ?? inFlight.get(domain);
    if (facts !== undefined) return facts;
    if (inFlight.size >= MAX_LOOKUPS) return unknownDomain("EBUSY");
    const lookup = lookUp(domain).finally(() => inFlight.delete(domain));
    inFlight.set(domain, lookup);
    return lookup;
  }

  return async (email: string): Promise<Verification> => verifyAddress(email, await factsOf(domainOf(email)));
}

function keptMs(facts: DomainFacts): number {
  if (facts.trouble !== null) return KEPT_MS.trouble;
  return facts.receives === "mx" || facts.receives === "address" ? KEPT_MS.receives : KEPT_MS.receivesNot;
}

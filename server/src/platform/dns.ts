// Resolves DNS names with a time limit. Distinguishes records, "there are none" and "no server responded" (reliability case F31).
import { Resolver } from "node:dns/promises";

export type DnsAnswer =
  | { kind: "records"; records: string[] }
  | { kind: "none" }
  /** `reason` is a code of node:dns, such as ESERVFAIL or ETIMEOUT. */
  | { kind: "unanswered"; reason: string };

export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR";

export interface Dns {
  /** Returns the TXT records of a name, with the strings of each record joined (RFC 7208 §3.3). Takes up to 7 s and never throws. */
  txt(name: string): Promise<DnsAnswer>;
  /**
   * Returns the addresses or host names in the records of a name, MX records without their preference. Takes up to 4.5 s and never throws.
   */
  records(name: string, type: RecordType): Promise<DnsAnswer>;
  /** Returns the addresses of the resolvers, with the port if it is not 53. */
  servers(): readonly string[];
}

const TIMEOUT_MS = 2_000;
const PATIENT_TRIES = 2;
/** Node checks its resolver's timeouts once a second, so this ends after 2 s. */
const QUICK_TIMEOUT_MS = 1_900;
/** Each resolver is asked once, which could take 6 s with three of them. */
const RECORDS_TIMEOUT_MS = 4_500;
const NOTHING_THERE = new Set(["ENOTFOUND", "ENODATA"]);

/** Creates a resolver for `servers` such as `127.0.0.1:5353`, or for the system's resolvers if empty. */
export function createDns(servers: readonly string[]): Dns {
  const patient = new Resolver({ timeout: TIMEOUT_MS, tries: PATIENT_TRIES });
  const quick = new Resolver({ timeout: QUICK_TIMEOUT_MS, tries: 1 });
  if (servers.length > 0) [patient, quick].forEach((resolver) => resolver.setServers(servers));
  return {
    txt: (name) =>
      responseTo(async () => (await patient.resolveTxt(name)).map((strings) => strings.join(""))),
    records: (name, type) => withinTime(responseTo(() => QUESTIONS[type](quick, name))),
    servers: () => patient.getServers(),
  };
}

const QUESTIONS: Record<RecordType, (resolver: Resolver, name: string) => Promise<string[]>> = {
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  MX: async (resolver, name) => (await resolver.resolveMx(name)).map(({ exchange }) => exchange),
  NS: (resolver, name) => resolver.resolveNs(name),
  PTR: (resolver, name) => resolver.resolvePtr(name),
};

async function responseTo(ask: () => Promise<string[]>): Promise<DnsAnswer> {
  try {
    return { kind: "records", records: await ask() };
  } catch (error) {
    const code: unknown = (error as { code?: unknown }).code;
    if (typeof code === "string" && NOTHING_THERE.has(code)) return { kind: "none" };
    return { kind: "unanswered", reason: typeof code === "string" ? code : String(error) };
  }
}

/** Limits the total time, because the resolver's own timer is coarse and restarts for each server. */
async function withinTime(response: Promise<DnsAnswer>): Promise<DnsAnswer> {
  const late = Promise.withResolvers<DnsAnswer>();
  const timer = setTimeout(
    () => late.resolve({ kind: "unanswered", reason: "ETIMEOUT" }),
    RECORDS_TIMEOUT_MS,
  );
  return Promise.race([response, late.promise]).finally(() => clearTimeout(timer));
}

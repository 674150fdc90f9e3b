// DNS questions, each bounded in time. An answer, "there is none", or "nobody answered": three different things (reliability case F31).
import { Resolver } from "node:dns/promises";

export type DnsAnswer =
  | { kind: "records"; records: string[] }
  | { kind: "none" }
  /** `reason` is a code of node:dns, such as ESERVFAIL or ETIMEOUT. */
  | { kind: "unanswered"; reason: string };

export type RecordType = "A" | "AAAA" | "CNAME" | "MX" | "NS";

export interface Dns {
  /** The TXT records of a name, the strings of each joined (RFC 7208 §3.3). Patient: up to 7 s. Never throws. */
  txt(name: string): Promise<DnsAnswer>;
  /** What the records of a name point at: addresses or host names, of MX without the preference. At most 4.5 s. Never throws. */
  records(name: string, type: RecordType): Promise<DnsAnswer>;
  /** Who is asked: addresses, with a port where that is not 53. */
  servers(): readonly string[];
}

const TIMEOUT_MS = 2_000;
const PATIENT_TRIES = 2;
/** Node looks at the clock of its resolver once a second, so this ends after 2 s. */
const QUICK_TIMEOUT_MS = 1_900;
/** Each of the resolvers is asked once; with three of them that alone could take 6 s. */
const RECORDS_TIMEOUT_MS = 4_500;
const NOTHING_THERE = new Set(["ENOTFOUND", "ENODATA"]);

/** `servers` such as `127.0.0.1:5353`; the system's when empty. */
export function createDns(servers: readonly string[]): Dns {
  const patient = new Resolver({ timeout: TIMEOUT_MS, tries: PATIENT_TRIES });
  const quick = new Resolver({ timeout: QUICK_TIMEOUT_MS, tries: 1 });
  if (servers.length > 0) [patient, quick].forEach((resolver) => resolver.setServers(servers));
  return {
    txt: (name) => answerTo(async () => (await patient.resolveTxt(name)).map((strings) => strings.join(""))),
    records: (name, type) => withinTime(answerTo(() => QUESTIONS[type](quick, name))),
    servers: () => patient.getServers(),
  };
}

const QUESTIONS: Record<RecordType, (resolver: Resolver, name: string) => Promise<string[]>> = {
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  MX: async (resolver, name) => (await resolver.resolveMx(name)).map(({ exchange }) => exchange),
  NS: (resolver, name) => resolver.resolveNs(name),
};

async function answerTo(ask: () => Promise<string[]>): Promise<DnsAnswer> {
  try {
    return { kind: "records", records: await ask() };
  } catch (error) {
    const code: unknown = (error as { code?: unknown }).code;
    if (typeof code === "string" && NOTHING_THERE.has(code)) return { kind: "none" };
    return { kind: "unanswered", reason: typeof code === "string" ? code : String(error) };
  }
}

/** The resolver's own clock is coarse and starts again for each server. */
async function withinTime(answer: Promise<DnsAnswer>): Promise<DnsAnswer> {
  const late = Promise.withResolvers<DnsAnswer>();
  const timer = setTimeout(
    () => late.resolve({ kind: "unanswered", reason: "ETIMEOUT" }),
    RECORDS_TIMEOUT_MS,
  );
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}

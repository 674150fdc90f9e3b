// Answers the DNS questions of mailauth from our resolver, with limits on time, questions and the size of answers.
import type { Dns, RecordType } from "../../platform/dns.ts";

/** Answers like the `resolve` of node:dns/promises. The type is that of mailauth, which omits the records of MX. */
export type Resolve = (name: string, type: string) => Promise<string[] | string[][]>;

type Response = Awaited<ReturnType<Dns["txt"]>>;

export interface LimitedResolver {
  resolve: Resolve;
  /** Ends the limit of time. */
  close(): void;
}

/** SPF needs up to 10 names with 10 hosts each (RFC 7208 §4.6.4), and the walks of DMARC 8 for each domain (RFC 9989 §4.10). */
const MAX_QUESTIONS = 100;
/** A stranger's DNS decides how much there is to read. A record of DKIM or SPF is far shorter. */
const MAX_RECORDS = 50;
const MAX_RECORD_LENGTH = 4_096;
const TYPES: ReadonlySet<string> = new Set<RecordType>(["A", "AAAA", "CNAME", "MX", "NS", "PTR"]);

/** Returns a resolver for one message. Questions without an answer after `limitMs` fail with ETIMEOUT. */
export function limitedResolver(dns: Pick<Dns, "txt" | "records">, limitMs: number): LimitedResolver {
  const late = Promise.withResolvers<Response>();
  const unanswered: Response = { kind: "unanswered", reason: "ETIMEOUT" };
  const timer = setTimeout(() => late.resolve(unanswered), limitMs);
  let asked = 0;

  async function ask(name: string, type: string): Promise<Response> {
    asked += 1;
    if (asked > MAX_QUESTIONS) return unanswered;
    if (type === "TXT") return Promise.race([dns.txt(name), late.promise]);
    if (!TYPES.has(type)) return { kind: "none" };
    return Promise.race([dns.records(name, type as RecordType), late.promise]);
  }

  return {
    async resolve(name, type) {
      const response = await ask(name, type);
      if (response.kind !== "records") throw dnsError(response.kind === "none" ? "ENODATA" : response.reason);
      const records = response.records
        .filter(({ length }) => length <= MAX_RECORD_LENGTH)
        .slice(0, MAX_RECORDS);
      if (type === "MX")
        return records.map((exchange, priority) => ({ exchange, priority })) as unknown as string[];
      return type === "TXT" ? records.map((text) => [text]) : records;
    },
    close() {
      clearTimeout(timer);
      late.resolve(unanswered);
    },
  };
}

/** Returns an error like those of node:dns. mailauth distinguishes them by code. */
export function dnsError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

// SPF record of a sender or return path domain (RFC 7208). Advice only, because DKIM verifies the domain and the relay's addresses are
// unknown. Pure.
import { sayOfDns, type DnsAdvice } from "@postloft/contract/dns-advice.ts";
import type { FoundRecords } from "./queries.ts";
import type { Judgement } from "./record-status.ts";
import {
  isSpfAll,
  MAX_COUNTED_LOOKUPS,
  spfRecordsOf,
  spfTermsOf,
  walkSpf,
  type SpfWalk,
} from "./spf-walk.ts";

/** Valid and harmless to publish unchanged, because `?all` makes no statement about any sender. */
const SKELETON = "v=spf1 ?all";
/** RFC 7208 §4.6.4. */
const MAX_LOOKUPS = 10;
const MAX_VOID_LOOKUPS = 2;
const ASK_PROVIDER = sayOfDns("spf.askProvider");

/** Classifies the SPF record. A domain without a DNS answer is unchecked. */
export function judgeSpf(domain: string, found: FoundRecords): Judgement {
  const records = found[domain];
  if (records === undefined) return { status: "UNCHECKED", value: SKELETON, advice: [] };
  const [record, ...others] = spfRecordsOf(records);
  if (record === undefined)
    return { status: "MISSING", value: SKELETON, advice: [sayOfDns("spf.missing"), ASK_PROVIDER] };
  if (others.length > 0) return mismatch(sayOfDns("spf.several", { count: others.length + 1 }));
  const walk = walkSpf(domain, found);
  const fault = faultOf(walk);
  return fault === null ? withPtr(judgeEnd(record), walk) : mismatch(fault);
}

function mismatch(...advice: DnsAdvice[]): Judgement {
  return { status: "MISMATCH", value: SKELETON, advice };
}

/** Returns the error that makes receivers ignore the record, or null. */
function faultOf({ fault, lookups, voids }: SpfWalk): DnsAdvice | null {
  if (fault !== null) return fault;
  if (lookups > MAX_COUNTED_LOOKUPS)
    return sayOfDns("spf.moreLookups", { count: MAX_COUNTED_LOOKUPS, most: MAX_LOOKUPS });
  if (lookups > MAX_LOOKUPS) return sayOfDns("spf.lookups", { count: lookups, most: MAX_LOOKUPS });
  if (voids.length > MAX_VOID_LOOKUPS) {
    return sayOfDns("spf.voids", {
      count: voids.length,
      names: voids.join(", "),
      most: MAX_VOID_LOOKUPS,
    });
  }
  return null;
}

/** Advises against `ptr`, which is slow and not supported everywhere (RFC 7208 §5.5). */
function withPtr(judged: Judgement, { ptrAt }: SpfWalk): Judgement {
  if (ptrAt === null || judged.status !== "FOUND") return judged;
  return { ...judged, advice: [...judged.advice, sayOfDns("spf.ptr", { name: ptrAt })] };
}

/** Classifies the record's rule for senders it does not list. */
function judgeEnd(record: string): Judgement {
  const terms = spfTermsOf(record);
  const all = terms.find(isSpfAll)?.toLowerCase();
  const isFound = { status: "FOUND", value: record, advice: [] } as const;
  if (all === "all" || all === "+all")
    return {
      status: "MISMATCH",
      value: record.replace(/ \+?all(?= |$)/i, " ~all"),
      advice: [sayOfDns("spf.allowsAll", { term: all })],
    };
  if (terms.length === 1 && all === "-all") return mismatch(sayOfDns("spf.sendsNothing"), ASK_PROVIDER);
  if (all === undefined && !terms.some((term) => /^redirect=/i.test(term)))
    return {
      ...isFound,
      value: `${record.trimEnd()} ~all`,
      advice: [sayOfDns("spf.noEnd")],
    };
  return isFound;
}

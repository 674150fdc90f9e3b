// SPF record of a sender or return path domain (RFC 7208). Advice only, because DKIM verifies the domain and the relay's addresses are
// unknown. Pure.
import { dnsMessage, type DnsAdvice } from "@postloft/contract/dns-advice.ts";
import type { FoundRecords } from "./queries.ts";
import type { Evaluation } from "./record-status.ts";
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
const ASK_PROVIDER = dnsMessage("spf.askProvider");

/** Classifies the SPF record. A domain without a DNS answer is unchecked. */
export function classifySpf(domain: string, found: FoundRecords): Evaluation {
  const records = found[domain];
  if (records === undefined) return { status: "UNCHECKED", value: SKELETON, advice: [] };
  const [record, ...others] = spfRecordsOf(records);
  if (record === undefined)
    return { status: "MISSING", value: SKELETON, advice: [dnsMessage("spf.missing"), ASK_PROVIDER] };
  if (others.length > 0) return mismatch(dnsMessage("spf.several", { count: others.length + 1 }));
  const walk = walkSpf(domain, found);
  const fault = faultOf(walk);
  return fault === null ? withPtr(evaluateEnd(record), walk) : mismatch(fault);
}

function mismatch(...advice: DnsAdvice[]): Evaluation {
  return { status: "MISMATCH", value: SKELETON, advice };
}

/** Returns the error that makes receivers ignore the record, or null. */
function faultOf({ fault, lookups, voids }: SpfWalk): DnsAdvice | null {
  if (fault !== null) return fault;
  if (lookups > MAX_COUNTED_LOOKUPS)
    return dnsMessage("spf.moreLookups", { count: MAX_COUNTED_LOOKUPS, most: MAX_LOOKUPS });
  if (lookups > MAX_LOOKUPS) return dnsMessage("spf.lookups", { count: lookups, most: MAX_LOOKUPS });
  if (voids.length > MAX_VOID_LOOKUPS) {
    return dnsMessage("spf.voids", {
      count: voids.length,
      names: voids.join(", "),
      most: MAX_VOID_LOOKUPS,
    });
  }
  return null;
}

/** Advises against `ptr`, which is slow and not supported everywhere (RFC 7208 §5.5). */
function withPtr(evaluated: Evaluation, { ptrAt }: SpfWalk): Evaluation {
  if (ptrAt === null || evaluated.status !== "FOUND") return evaluated;
  return { ...evaluated, advice: [...evaluated.advice, dnsMessage("spf.ptr", { name: ptrAt })] };
}

/** Classifies the record's rule for senders it does not list. */
function evaluateEnd(record: string): Evaluation {
  const terms = spfTermsOf(record);
  const all = terms.find(isSpfAll)?.toLowerCase();
  const isFound = { status: "FOUND", value: record, advice: [] } as const;
  if (all === "all" || all === "+all")
    return {
      status: "MISMATCH",
      value: record.replace(/ \+?all(?= |$)/i, " ~all"),
      advice: [dnsMessage("spf.allowsAll", { term: all })],
    };
  if (terms.length === 1 && all === "-all") return mismatch(dnsMessage("spf.sendsNothing"), ASK_PROVIDER);
  if (all === undefined && !terms.some((term) => /^redirect=/i.test(term)))
    return {
      ...isFound,
      value: `${record.trimEnd()} ~all`,
      advice: [dnsMessage("spf.noEnd")],
    };
  return isFound;
}

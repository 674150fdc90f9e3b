// Follows an SPF record through its includes, as receivers do (RFC 7208 §4.6), counting lookups and finding loops and errors. Pure.
import { dnsMessage, type DnsAdvice } from "@postloft/contract/dns-advice.ts";
import type { FoundRecords } from "./queries.ts";

/** A DNS question that must be answered before the walk can continue. */
export interface SpfQuestion {
  type: "TXT" | "A" | "MX";
  name: string;
  /** The key of its answer among the found records. */
  key: string;
}

export interface SpfWalk {
  /** Counted up to one more than `MAX_COUNTED_LOOKUPS`. */
  lookups: number;
  /** Names without DNS records, once per lookup. */
  voids: string[];
  /** The first error that receivers would report. */
  fault: DnsAdvice | null;
  /** The name of the record that uses `ptr`. */
  ptrAt: string | null;
  /** The keys of the found records that the walk used. */
  reached: Set<string>;
  /** Questions without an answer yet. */
  questions: SpfQuestion[];
}

/** More than receivers allow (ten), so that the advice can say by how many lookups it is exceeded. Also limits our DNS questions. */
export const MAX_COUNTED_LOOKUPS = 20;
/** RFC 7208 §4.6.4: more hosts behind one `mx` are an error. */
const MAX_MX_HOSTS = 10;
const SPF = /^v=spf1( |$)/i;
const MECHANISM = /^[+?~-]?(all|include:.+|a([:/].+)?|mx([:/].+)?|ptr(:.+)?|ip4:.+|ip6:.+|exists:.+)$/i;
const MODIFIER = /^[a-z][a-z0-9_.-]*=/i;
const ASKS = /^(?:[+?~-]?(include|exists):|[+?~-]?(a|mx|ptr)(?::|(?=[/])|$)|(redirect)=)([^/]*)/i;
const ALL = /^[+?~-]?all$/i;
const isRedirect = (term: string) => /^redirect=/i.test(term);
/** Requires a dot, because a single label is not an email domain and could be the name of an object's built-in property. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/;

/** Returns the SPF records among those of a name (RFC 7208 §4.5). */
export function spfRecordsOf(records: readonly string[]): string[] {
  return records.filter((record) => SPF.test(record));
}

/** Returns the terms after the version. */
export function spfTermsOf(record: string): string[] {
  return record.split(/ +/).slice(1).filter(Boolean);
}

export function isSpfAll(term: string): boolean {
  return ALL.test(term);
}

/** Walks from the record of a domain as far as answers are available. */
export function walkSpf(domain: string, found: FoundRecords): SpfWalk {
  const walk: SpfWalk = {
    lookups: 0,
    voids: [],
    fault: null,
    ptrAt: null,
    reached: new Set(),
    questions: [],
  };
  visit(walk, domain.toLowerCase(), [], found);
  return walk;
}

function visit(walk: SpfWalk, name: string, path: readonly string[], found: FoundRecords): void {
  const records = answerOf(walk, "TXT", name, found);
  if (records === null) return;
  const [record, ...others] = spfRecordsOf(records);
  const from = path.at(-1);
  if (record === undefined || others.length > 0) {
    if (from !== undefined)
      walk.fault ??=
        record === undefined
          ? dnsMessage("spf.includesNone", { from, name })
          : dnsMessage("spf.includesSeveral", { from, name, count: others.length + 1 });
    return;
  }
  const terms = spfTermsOf(record);
  const unknown = terms.find((term) => !MECHANISM.test(term) && !MODIFIER.test(term));
  if (unknown !== undefined)
    walk.fault ??=
      from === undefined
        ? dnsMessage("spf.unknownTerm", { term: shortened(unknown) })
        : dnsMessage("spf.unknownTermIn", { term: shortened(unknown), name });
  for (const term of termsInUse(terms)) {
    if (walk.lookups > MAX_COUNTED_LOOKUPS) return;
    lookUp(walk, term, name, [...path, name], found);
  }
}

const SHOWN_CHARS = 80;
const shortened = (term: string) => term.slice(0, SHOWN_CHARS);

/** Skips terms after `all`, and uses `redirect` only without `all` (RFC 7208 §5.1). */
function termsInUse(terms: readonly string[]): readonly string[] {
  const all = terms.findIndex(isSpfAll);
  if (all >= 0) return terms.slice(0, all).filter((term) => !isRedirect(term));
  return [...terms.filter((term) => !isRedirect(term)), ...terms.filter(isRedirect)];
}

function lookUp(walk: SpfWalk, term: string, at: string, path: readonly string[], found: FoundRecords): void {
  const asks = ASKS.exec(term);
  if (asks === null) return;
  walk.lookups += 1;
  const kind = (asks[1] ?? asks[2] ?? asks[3] ?? "").toLowerCase();
  if (kind === "ptr") walk.ptrAt ??= at;
  const target = (asks[4] || at).toLowerCase().replace(/\.$/, "");
  // Macros are only known when an email arrives, and `ptr` asks about the sender's address.
  if (kind === "ptr" || target.includes("%")) return;
  if (!HOST_NAME.test(target)) {
    walk.fault ??= dnsMessage("spf.noHost", { term: shortened(term) });
    return;
  }
  if (kind === "include" || kind === "redirect") {
    if (path.includes(target)) walk.fault ??= dnsMessage("spf.loop", { from: at, name: target });
    else visit(walk, target, path, found);
    return;
  }
  const records = answerOf(walk, kind === "mx" ? "MX" : "A", target, found);
  if (records === null) return;
  if (records.length === 0) walk.voids.push(target);
  if (records.length > MAX_MX_HOSTS && kind === "mx")
    walk.fault ??= dnsMessage("spf.manyHosts", { term: shortened(term), most: MAX_MX_HOSTS });
}

/** Returns the found records. Adds a question and returns null if there is no answer yet. */
function answerOf(
  walk: SpfWalk,
  type: SpfQuestion["type"],
  name: string,
  found: FoundRecords,
): readonly string[] | null {
  const key = type === "TXT" ? name : `${type} ${name}`;
  const records = found[key];
  walk.reached.add(key);
  if (records !== undefined) return records;
  if (!walk.questions.some((question) => question.key === key)) walk.questions.push({ type, name, key });
  return null;
}

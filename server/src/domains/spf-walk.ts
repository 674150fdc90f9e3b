// Follows an SPF record through what it includes, as receivers do (RFC 7208 §4.6): lookups, void lookups, loops, errors. Pure.
import { sayOfDns, type DnsAdvice } from "@postloft/contract/dns-advice.ts";
import type { FoundRecords } from "./queries.ts";

/** Something DNS has to say before the walk can go on. */
export interface SpfQuestion {
  type: "TXT" | "A" | "MX";
  name: string;
  /** Its answer's place among the found records. */
  key: string;
}

export interface SpfWalk {
  /** Counted up to one more than `MAX_COUNTED_LOOKUPS`. */
  lookups: number;
  /** Names that DNS has nothing for, each as often as it is looked up. */
  voids: string[];
  /** The first thing that receivers take for an error. */
  fault: DnsAdvice | null;
  /** The name whose record uses `ptr`. */
  ptrAt: string | null;
  /** The places among the found records that the walk came by. */
  reached: Set<string>;
  /** What is not answered yet. */
  questions: SpfQuestion[];
}

/** Further than receivers go (ten), so that a person hears how far it is too many; and the bound of what we ask DNS for. */
export const MAX_COUNTED_LOOKUPS = 20;
/** RFC 7208 §4.6.4: more hosts behind one `mx` are an error. */
const MAX_MX_HOSTS = 10;
const SPF = /^v=spf1( |$)/i;
const MECHANISM = /^[+?~-]?(all|include:.+|a([:/].+)?|mx([:/].+)?|ptr(:.+)?|ip4:.+|ip6:.+|exists:.+)$/i;
const MODIFIER = /^[a-z][a-z0-9_.-]*=/i;
const ASKS = /^(?:[+?~-]?(include|exists):|[+?~-]?(a|mx|ptr)(?::|(?=[/])|$)|(redirect)=)([^/]*)/i;
const ALL = /^[+?~-]?all$/i;
const isRedirect = (term: string) => /^redirect=/i.test(term);
/** With a dot: a name of one label is nobody's mail domain, and could be that of a member of every object. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/;

/** The records among those of a name that are SPF at all (RFC 7208 §4.5). */
export function spfRecordsOf(records: readonly string[]): string[] {
  return records.filter((record) => SPF.test(record));
}

/** The terms of a record behind its version. */
export function spfTermsOf(record: string): string[] {
  return record.split(/ +/).slice(1).filter(Boolean);
}

export function isSpfAll(term: string): boolean {
  return ALL.test(term);
}

/** Walks from the record of a domain as far as answers are there. */
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
          ? sayOfDns("spf.includesNone", { from, name })
          : sayOfDns("spf.includesSeveral", { from, name, count: others.length + 1 });
    return;
  }
  const terms = spfTermsOf(record);
  const unknown = terms.find((term) => !MECHANISM.test(term) && !MODIFIER.test(term));
  if (unknown !== undefined)
    walk.fault ??=
      from === undefined
        ? sayOfDns("spf.unknownTerm", { term: shortened(unknown) })
        : sayOfDns("spf.unknownTermIn", { term: shortened(unknown), name });
  for (const term of termsInUse(terms)) {
    if (walk.lookups > MAX_COUNTED_LOOKUPS) return;
    lookUp(walk, term, name, [...path, name], found);
  }
}

const SHOWN_CHARS = 80;
const shortened = (term: string) => term.slice(0, SHOWN_CHARS);

/** What stands behind `all` is never looked at, and `redirect` only where there is no `all` (RFC 7208 §5.1). */
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
  // What a macro stands for is known only when a mail comes in; who asks `ptr` asks about the sender's address.
  if (kind === "ptr" || target.includes("%")) return;
  if (!HOST_NAME.test(target)) {
    walk.fault ??= sayOfDns("spf.noHost", { term: shortened(term) });
    return;
  }
  if (kind === "include" || kind === "redirect") {
    if (path.includes(target)) walk.fault ??= sayOfDns("spf.loop", { from: at, name: target });
    else visit(walk, target, path, found);
    return;
  }
  const records = answerOf(walk, kind === "mx" ? "MX" : "A", target, found);
  if (records === null) return;
  if (records.length === 0) walk.voids.push(target);
  if (records.length > MAX_MX_HOSTS && kind === "mx")
    walk.fault ??= sayOfDns("spf.manyHosts", { term: shortened(term), most: MAX_MX_HOSTS });
}

/** What was found; null, and the question is noted, where nobody has answered yet. */
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

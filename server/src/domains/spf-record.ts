// The SPF record of a sender domain (RFC 7208): advice only, since DKIM proves the domain and the relay's addresses are not known here. Pure.
// After it: present-domain.ts shows it.
import type { Judgement } from "./record-status.ts";

/** Valid, and harmless when it is published as it stands: `?all` says nothing about anybody. */
const SKELETON = "v=spf1 ?all";
/** RFC 7208 §4.6.4. */
const MAX_LOOKUPS = 10;
const MECHANISM = /^[+?~-]?(all|include:.+|a([:/].+)?|mx([:/].+)?|ptr(:.+)?|ip4:.+|ip6:.+|exists:.+)$/i;
const MODIFIER = /^[a-z][a-z0-9_.-]*=/i;
const LOOKUP = /^[+?~-]?(include|a|mx|ptr|exists)([:/]|$)|^redirect=/i;
const ASK_PROVIDER =
  "Your mail server's provider tells you the `include:` (or the addresses) that belongs before `?all`; end with `~all` once every server that sends for you is in it.";

/** The records among those of a name that are SPF at all (RFC 7208 §4.5). */
export function spfRecordsOf(records: readonly string[]): string[] {
  return records.filter((record) => /^v=spf1( |$)/i.test(record));
}

/** `records` are the TXT records of the domain; undefined when nobody answered for it. */
export function judgeSpf(records: readonly string[] | undefined): Judgement {
  if (records === undefined) return { status: "UNCHECKED", value: SKELETON, advice: null };
  const [record, ...others] = spfRecordsOf(records);
  if (record === undefined)
    return { status: "MISSING", value: SKELETON, advice: `There is no SPF record. ${ASK_PROVIDER}` };
  if (others.length > 0)
    return {
      status: "MISMATCH",
      value: SKELETON,
      advice: `There are ${others.length + 1} SPF records, which receivers take for an error and then for none. Put what they allow into one and delete the others.`,
    };
  return judgeRecord(record);
}

function judgeRecord(record: string): Judgement {
  const terms = record.split(/ +/).slice(1).filter(Boolean);
  const unknown = terms.find((term) => !MECHANISM.test(term) && !MODIFIER.test(term));
  if (unknown !== undefined)
    return {
      status: "MISMATCH",
      value: SKELETON,
      advice: `\`${unknown.slice(0, 80)}\` is nothing SPF knows, so receivers take the whole record for an error. Correct it.`,
    };
  const lookups = terms.filter((term) => LOOKUP.test(term)).length;
  if (lookups > MAX_LOOKUPS)
    return {
      status: "MISMATCH",
      value: SKELETON,
      advice: `The record needs ${lookups} lookups; more than ${MAX_LOOKUPS} are an error to receivers. Take out what you no longer use.`,
    };
  return judgeEnd(record, terms);
}

/** What the record says about everybody it does not name. */
function judgeEnd(record: string, terms: readonly string[]): Judgement {
  const all = terms.find((term) => /^[+?~-]?all$/i.test(term))?.toLowerCase();
  const isFound = { status: "FOUND", value: record, advice: null } as const;
  if (all === "all" || all === "+all")
    return {
      status: "MISMATCH",
      value: record.replace(/ \+?all(?= |$)/i, " ~all"),
      advice: `\`${all}\` lets every machine in the world send for your domain. End the record with \`~all\`.`,
    };
  if (terms.length === 1 && all === "-all")
    return {
      ...isFound,
      status: "MISMATCH",
      value: SKELETON,
      advice: `The record says that this domain sends no mail at all. ${ASK_PROVIDER}`,
    };
  if (all === undefined && !terms.some((term) => /^redirect=/i.test(term)))
    return {
      ...isFound,
      value: `${record.trimEnd()} ~all`,
      advice: "The record does not say what to think of other machines. End it with `~all`.",
    };
  return isFound;
}

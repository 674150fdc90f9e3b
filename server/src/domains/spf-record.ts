// The SPF record of a domain, the return path's or the sender's (RFC 7208): advice only, since DKIM proves the domain and the relay's addresses are not known here. Pure.
// Before it: spf-walk.ts follows what it includes. After it: present-domain.ts shows it.
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

/** Valid, and harmless when it is published as it stands: `?all` says nothing about anybody. */
const SKELETON = "v=spf1 ?all";
/** RFC 7208 §4.6.4. */
const MAX_LOOKUPS = 10;
const MAX_VOID_LOOKUPS = 2;
const ASK_PROVIDER =
  "Your mail server's provider tells you the `include:` (or the addresses) that belongs before `?all`; end with `~all` once every server that sends for you is in it.";

/** Judges by what was found; a domain that nobody answered for is unchecked. */
export function judgeSpf(domain: string, found: FoundRecords): Judgement {
  const records = found[domain];
  if (records === undefined) return { status: "UNCHECKED", value: SKELETON, advice: null };
  const [record, ...others] = spfRecordsOf(records);
  if (record === undefined)
    return { status: "MISSING", value: SKELETON, advice: `There is no SPF record. ${ASK_PROVIDER}` };
  if (others.length > 0)
    return mismatch(
      `There are ${others.length + 1} SPF records, which receivers take for an error and then for none. Put what they allow into one and delete the others.`,
    );
  const walk = walkSpf(domain, found);
  const fault = faultOf(walk);
  return fault === null ? withPtr(judgeEnd(record), walk) : mismatch(fault);
}

function mismatch(advice: string): Judgement {
  return { status: "MISMATCH", value: SKELETON, advice };
}

/** What receivers take for an error, so that the record counts for nothing. */
function faultOf({ fault, lookups, voids }: SpfWalk): string | null {
  if (fault !== null) return `${fault}, so receivers take the whole record for an error. Correct it.`;
  if (lookups > MAX_LOOKUPS) {
    const count = lookups > MAX_COUNTED_LOOKUPS ? `more than ${MAX_COUNTED_LOOKUPS}` : String(lookups);
    return `The record needs ${count} lookups, with what it includes; more than ${MAX_LOOKUPS} are an error to receivers. Take out what you no longer use.`;
  }
  if (voids.length > MAX_VOID_LOOKUPS)
    return `DNS has nothing for ${voids.length} names that the record looks up (${voids.map((name) => `\`${name}\``).join(", ")}); more than ${MAX_VOID_LOOKUPS} are an error to receivers. Take them out.`;
  return null;
}

/** `ptr` works, slowly and not everywhere (RFC 7208 §5.5). */
function withPtr(judged: Judgement, { ptrAt }: SpfWalk): Judgement {
  if (ptrAt === null || judged.status !== "FOUND") return judged;
  const advice = `The record of \`${ptrAt}\` uses \`ptr\`, which is slow and which large receivers ignore: name the addresses instead.`;
  return { ...judged, advice: judged.advice === null ? advice : `${judged.advice} ${advice}` };
}

/** What the record says about everybody it does not name. */
function judgeEnd(record: string): Judgement {
  const terms = spfTermsOf(record);
  const all = terms.find(isSpfAll)?.toLowerCase();
  const isFound = { status: "FOUND", value: record, advice: null } as const;
  if (all === "all" || all === "+all")
    return {
      status: "MISMATCH",
      value: record.replace(/ \+?all(?= |$)/i, " ~all"),
      advice: `\`${all}\` lets every machine in the world send for your domain. End the record with \`~all\`.`,
    };
  if (terms.length === 1 && all === "-all")
    return mismatch(`The record says that this domain sends no mail at all. ${ASK_PROVIDER}`);
  if (all === undefined && !terms.some((term) => /^redirect=/i.test(term)))
    return {
      ...isFound,
      value: `${record.trimEnd()} ~all`,
      advice: "The record does not say what to think of other machines. End it with `~all`.",
    };
  return isFound;
}

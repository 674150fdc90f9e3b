// DMARC policy that receivers find for a sender domain by the tree walk (RFC 9989). Advice only. Pure.
import { dnsMessage } from "@postloft/contract/dns-advice.ts";
import type { FoundRecords } from "./queries.ts";
import type { Evaluation } from "./record-status.ts";

/** Does not affect any email, and large receivers require it from bulk senders. */
const TO_BEGIN_WITH = "v=DMARC1; p=none";
/** RFC 9989 §4.10: for longer names the walk checks the name itself, then its last seven labels. */
const MAX_WALK_LABELS = 7;
/** Must come first, with exactly this value. */
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(;|$)/;
const POLICIES = new Set(["none", "quarantine", "reject"]);
/** Tags removed by RFC 9989. Receivers with the old rules may still use them. */
const OBSOLETE = ["pct", "rf", "ri"];
const REPORTS = ["rua", "ruf"];
const REPORT_ADDRESS = /^[a-z][a-z0-9+.-]*:\S+$/i;

interface Policy {
  /** The name that publishes it. */
  name: string;
  record: string;
  tags: ReadonlyMap<string, string>;
}

/** Returns the names of the tree walk, the domain's own first, at most eight. */
export function dmarcNames(domain: string): string[] {
  const labels = domain.split(".");
  const parents = labels.map((_, at) => labels.slice(at).join(".")).filter((_, at) => at > 0);
  return [domain, ...parents.filter((parent) => parent.split(".").length <= MAX_WALK_LABELS)].map(
    (name) => `_dmarc.${name}`,
  );
}

/** Classifies the DMARC record. `name` is where the record is or should be, `found` its content, or null if DNS gave no answer. */
export function classifyDmarc(
  domain: string,
  found: FoundRecords,
): Evaluation & { name: string; found: readonly string[] | null } {
  const [own = "", ...above] = dmarcNames(domain);
  const records = found[own];
  const unchecked = { status: "UNCHECKED", value: TO_BEGIN_WITH, advice: [] } as const;
  if (records === undefined) return { ...unchecked, name: own, found: null };
  if (records.filter(isDmarc).length > 1) return several(own, records);
  const policy = findPolicy(domain, found);
  if (policy !== null) return { ...evaluatePolicy(policy), name: policy.name, found: [policy.record] };
  if (above.some((name) => found[name] === undefined)) return { ...unchecked, name: own, found: null };
  const doubled = above.find((name) => (found[name] ?? []).filter(isDmarc).length > 1);
  if (doubled !== undefined) return several(doubled, found[doubled] ?? []);
  const isMissing = records.length === 0;
  return {
    status: isMissing ? "MISSING" : "MISMATCH",
    value: TO_BEGIN_WITH,
    advice: [dnsMessage(isMissing ? "dmarc.missing" : "dmarc.otherRecord")],
    name: own,
    found: records,
  };
}

function several(name: string, found: readonly string[]) {
  const count = found.filter(isDmarc).length;
  return {
    status: "MISMATCH",
    value: TO_BEGIN_WITH,
    advice: [dnsMessage("dmarc.several", { count })],
    name,
    found,
  } as const;
}

/** Returns the policy that applies (RFC 9989 §4.10.1): of the domain, its organization, or the public suffix, in this order. */
function findPolicy(domain: string, found: FoundRecords): Policy | null {
  const walked: Policy[] = [];
  for (const name of dmarcNames(domain)) {
    const [record, ...others] = (found[name] ?? []).filter(isDmarc);
    if (record === undefined || others.length > 0) continue;
    const policy = { name, record, tags: tagsOf(record) };
    walked.push(policy);
    if (["y", "n"].includes(policy.tags.get("psd") ?? "")) break;
  }
  const own = walked.find(({ name }) => name === `_dmarc.${domain}`);
  const last = walked.at(-1);
  if (own !== undefined || last?.tags.get("psd") !== "y") return own ?? last ?? null;
  // The organization is one label below the public suffix, and its record has precedence.
  const labels = last.name.split(".").length;
  return walked.find(({ name }) => name.split(".").length === labels + 1) ?? last;
}

function evaluatePolicy({ record, tags }: Policy): Evaluation {
  const isValid = (tag: string) => POLICIES.has((tags.get(tag) ?? "none").toLowerCase());
  if (!tags.has("p") || !["p", "sp", "np"].every(isValid)) {
    const isReported = (tags.get("rua") ?? "")
      .split(",")
      .some((address) => REPORT_ADDRESS.test(address.trim()));
    return isReported
      ? { status: "FOUND", value: record, advice: [dnsMessage("dmarc.noPolicyButReports")] }
      : { status: "MISMATCH", value: TO_BEGIN_WITH, advice: [dnsMessage("dmarc.noPolicy")] };
  }
  return improve(record, tags);
}

/** Returns a valid record with possible improvements. */
function improve(record: string, tags: Policy["tags"]): Evaluation {
  const obsolete = OBSOLETE.filter((tag) => tags.has(tag));
  const bare = REPORTS.filter((tag) =>
    addressesOf(tags, tag).some((address) => !REPORT_ADDRESS.test(address)),
  );
  if (obsolete.length + bare.length === 0) return { status: "FOUND", value: record, advice: [] };
  const parts = partsOf(record).filter((part) => !OBSOLETE.includes(nameOf(part)));
  const value = parts.map((part) => (bare.includes(nameOf(part)) ? withMailto(part) : part.trim()));
  const advice = [
    ...(obsolete.length === 0 ? [] : [dnsMessage("dmarc.obsolete", { tags: obsolete.join(", ") })]),
    ...(bare.length === 0 ? [] : [dnsMessage("dmarc.bareAddresses", { tags: bare.join(", ") })]),
  ];
  return { status: "FOUND", value: value.join("; "), advice };
}

const addressesOf = (tags: Policy["tags"], tag: string) =>
  (tags.get(tag) ?? "")
    .split(",")
    .map((address) => address.trim())
    .filter((address) => address !== "");

function withMailto(part: string): string {
  const [name = "", ...rest] = part.split("=");
  const addresses = rest.join("=").split(",");
  const whole = addresses.map(
    (address) => (REPORT_ADDRESS.test(address.trim()) ? "" : "mailto:") + address.trim(),
  );
  return `${name.trim()}=${whole.join(",")}`;
}

const isDmarc = (record: string) => VERSION.test(record);
const partsOf = (record: string) => record.split(";").filter((part) => part.trim() !== "");
const nameOf = (part: string) => (part.split("=")[0] ?? "").trim().toLowerCase();

/** Parses tags in any order. Unknown tags are ignored (RFC 9989 §4.7). */
function tagsOf(record: string): Map<string, string> {
  return new Map(partsOf(record).map((part) => [nameOf(part), part.slice(part.indexOf("=") + 1).trim()]));
}

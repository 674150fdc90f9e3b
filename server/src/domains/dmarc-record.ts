// The DMARC policy that receivers find for a sender domain (RFC 9989): at the domain itself, or above it by the tree walk. Advice only.
// Pure.
import { sayOfDns } from "@postloft/contract/dns-advice.ts";
import type { FoundRecords } from "./queries.ts";
import type { Judgement } from "./record-status.ts";

/** Changes nothing about anybody's mail, and is what large receivers ask of whoever sends much. */
const TO_BEGIN_WITH = "v=DMARC1; p=none";
/** RFC 9989 §4.10: of a longer name the walk looks at the name itself, then at its last seven labels. */
const MAX_WALK_LABELS = 7;
/** First, and its value to the letter. */
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(;|$)/;
const POLICIES = new Set(["none", "quarantine", "reject"]);
/** What RFC 9989 took out. Receivers of the old rules may still act on them. */
const OBSOLETE = ["pct", "rf", "ri"];
const REPORTS = ["rua", "ruf"];
const REPORT_ADDRESS = /^[a-z][a-z0-9+.-]*:\S+$/i;

interface Policy {
  /** Of the domain that publishes it. */
  name: string;
  record: string;
  tags: ReadonlyMap<string, string>;
}

/** The names the tree walk asks, the domain's own first; at most eight. */
export function dmarcNames(domain: string): string[] {
  const labels = domain.split(".");
  const parents = labels.map((_, at) => labels.slice(at).join(".")).filter((_, at) => at > 0);
  return [domain, ...parents.filter((parent) => parent.split(".").length <= MAX_WALK_LABELS)].map(
    (name) => `_dmarc.${name}`,
  );
}

/** `name` is where the record is, or where it should be; `found` what is there, null when nobody answered. */
export function judgeDmarc(
  domain: string,
  found: FoundRecords,
): Judgement & { name: string; found: readonly string[] | null } {
  const [own = "", ...above] = dmarcNames(domain);
  const records = found[own];
  const unchecked = { status: "UNCHECKED", value: TO_BEGIN_WITH, advice: [] } as const;
  if (records === undefined) return { ...unchecked, name: own, found: null };
  if (records.filter(isDmarc).length > 1) return several(own, records);
  const policy = findPolicy(domain, found);
  if (policy !== null) return { ...judgePolicy(policy), name: policy.name, found: [policy.record] };
  if (above.some((name) => found[name] === undefined)) return { ...unchecked, name: own, found: null };
  const doubled = above.find((name) => (found[name] ?? []).filter(isDmarc).length > 1);
  if (doubled !== undefined) return several(doubled, found[doubled] ?? []);
  const isMissing = records.length === 0;
  return {
    status: isMissing ? "MISSING" : "MISMATCH",
    value: TO_BEGIN_WITH,
    advice: [sayOfDns(isMissing ? "dmarc.missing" : "dmarc.otherRecord")],
    name: own,
    found: records,
  };
}

function several(name: string, found: readonly string[]) {
  const count = found.filter(isDmarc).length;
  return {
    status: "MISMATCH",
    value: TO_BEGIN_WITH,
    advice: [sayOfDns("dmarc.several", { count })],
    name,
    found,
  } as const;
}

/** The policy that applies (RFC 9989 §4.10.1): the domain's own, else that of its organization, else that of the public suffix. */
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
  // A public suffix: the organization is one label below it, and its own record goes first.
  const labels = last.name.split(".").length;
  return walked.find(({ name }) => name.split(".").length === labels + 1) ?? last;
}

function judgePolicy({ record, tags }: Policy): Judgement {
  const isValid = (tag: string) => POLICIES.has((tags.get(tag) ?? "none").toLowerCase());
  if (!tags.has("p") || !["p", "sp", "np"].every(isValid)) {
    const isReported = (tags.get("rua") ?? "")
      .split(",")
      .some((address) => REPORT_ADDRESS.test(address.trim()));
    return isReported
      ? { status: "FOUND", value: record, advice: [sayOfDns("dmarc.noPolicyButReports")] }
      : { status: "MISMATCH", value: TO_BEGIN_WITH, advice: [sayOfDns("dmarc.noPolicy")] };
  }
  return improve(record, tags);
}

/** A record that works, with what could be better in it. */
function improve(record: string, tags: Policy["tags"]): Judgement {
  const obsolete = OBSOLETE.filter((tag) => tags.has(tag));
  const bare = REPORTS.filter((tag) =>
    addressesOf(tags, tag).some((address) => !REPORT_ADDRESS.test(address)),
  );
  if (obsolete.length + bare.length === 0) return { status: "FOUND", value: record, advice: [] };
  const parts = partsOf(record).filter((part) => !OBSOLETE.includes(nameOf(part)));
  const value = parts.map((part) => (bare.includes(nameOf(part)) ? withMailto(part) : part.trim()));
  const advice = [
    ...(obsolete.length === 0 ? [] : [sayOfDns("dmarc.obsolete", { tags: obsolete.join(", ") })]),
    ...(bare.length === 0 ? [] : [sayOfDns("dmarc.bareAddresses", { tags: bare.join(", ") })]),
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

/** Tags in any order; those nobody knows mean nothing (RFC 9989 §4.7). */
function tagsOf(record: string): Map<string, string> {
  return new Map(partsOf(record).map((part) => [nameOf(part), part.slice(part.indexOf("=") + 1).trim()]));
}

// DKIM records (RFC 6376 §3.6.1): the value to publish, and errors in published ones. Pure.
import { dnsMessage, type DnsAdvice, type DnsAdviceCode } from "@postloft/contract/dns-advice.ts";
import type { RecordStatus } from "./record-status.ts";

export interface PublicDkimKey {
  domain: string;
  selector: string;
  /** In base64: SubjectPublicKeyInfo (DER) of an RSA key, the bare 32 bytes of an Ed25519 key (RFC 8463). */
  publicKey: string;
  kind: DkimKeyKind;
}

export type DkimKeyKind = "rsa" | "ed25519";

export function dkimName({ domain, selector }: PublicDkimKey): string {
  return `${selector}._domainkey.${domain}`;
}

export function dkimValue({ publicKey, kind }: Pick<PublicDkimKey, "publicKey" | "kind">): string {
  return `v=DKIM1; k=${kind}; p=${publicKey}`;
}

/** Classifies the records of a key's name. They are undefined if DNS gave no answer; one record with the key is enough. */
export function classifyDkim(
  records: readonly string[] | undefined,
  key: Pick<PublicDkimKey, "publicKey" | "kind">,
): { status: RecordStatus; advice: readonly DnsAdvice[] } {
  if (records === undefined) return { status: "UNCHECKED", advice: [] };
  if (records.length === 0) return { status: "MISSING", advice: [dnsMessage("dkim.missing")] };
  const faults = records.map((record) => faultOf(record, key));
  const [fault = null] = faults;
  if (fault !== null && !faults.includes(null)) return { status: "MISMATCH", advice: [dnsMessage(fault)] };
  return { status: "FOUND", advice: adviceOn(records) };
}

function adviceOn(records: readonly string[]): DnsAdvice[] {
  if (records.length > 1) return [dnsMessage("dkim.several", { count: records.length })];
  const isTesting = tagsOf(records[0] ?? "")
    ?.get("t")
    ?.split(":")
    .includes("y");
  return isTesting === true ? [dnsMessage("dkim.testing")] : [];
}

/** Returns why a verifier would reject this key's signature because of the record, or null if it would accept it. */
function faultOf(
  record: string,
  { publicKey, kind }: Pick<PublicDkimKey, "publicKey" | "kind">,
): DnsAdviceCode | null {
  const tags = tagsOf(record);
  const published = tags?.get("p");
  // The version is optional but must come first.
  const isOtherVersion = tags?.has("v") === true && [...tags][0]?.join("=") !== "v=DKIM1";
  if (tags === null || published === undefined || isOtherVersion) return "dkim.notARecord";
  if (published === "") return "dkim.revoked";
  if (published !== publicKey) return "dkim.otherKey";
  const allows = (tag: string, values: readonly string[]) =>
    (tags.get(tag) ?? values[0] ?? "").split(":").some((value) => values.includes(value));
  // Without `k=` the key is RSA.
  if ((tags.get("k") ?? "rsa") !== kind || !allows("h", ["sha256"]) || !allows("s", ["*", "email"]))
    return "dkim.forbidden";
  return null;
}

/** Parses a tag list (RFC 6376 §3.2), ignoring white space. Returns null if a tag is repeated or a part lacks `=`. */
function tagsOf(record: string): Map<string, string> | null {
  const parts = record.split(";").filter((part) => part.trim() !== "");
  const tags = new Map(
    parts.map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at).trim(), part.slice(at + 1).replace(/\s+/g, "")] as const;
    }),
  );
  return tags.size === parts.length && parts.every((part) => part.includes("=")) ? tags : null;
}

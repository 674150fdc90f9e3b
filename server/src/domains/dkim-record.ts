// The DKIM record of a key (RFC 6376 §3.6.1): what to publish, and what is wrong with what is published. Pure.
// After it: rules.ts decides whether a domain is proved, present-domain.ts shows the record.
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

/** `records` are those of the key's name; undefined when nobody answered for it. One that carries the key is enough. */
export function judgeDkim(
  records: readonly string[] | undefined,
  key: Pick<PublicDkimKey, "publicKey" | "kind">,
): { status: RecordStatus; advice: string | null } {
  if (records === undefined) return { status: "UNCHECKED", advice: null };
  if (records.length === 0)
    return {
      status: "MISSING",
      advice:
        "DNS has no TXT record of this name. Look at the name: many providers append the domain to what you enter.",
    };
  const faults = records.map((record) => faultOf(record, key));
  if (!faults.includes(null)) return { status: "MISMATCH", advice: faults[0] ?? null };
  return { status: "FOUND", advice: adviceOn(records) };
}

function adviceOn(records: readonly string[]): string | null {
  if (records.length > 1)
    return `There are ${records.length} TXT records of this name, and receivers may read any of them. Keep only this one.`;
  const isTesting = tagsOf(records[0] ?? "")
    ?.get("t")
    ?.split(":")
    .includes("y");
  return isTesting === true
    ? "`t=y` says that the key is only being tried out: receivers may treat the mail as unsigned. Take it out."
    : null;
}

/** Why a verifier would not take a signature of this key by this record; null when it would. */
function faultOf(
  record: string,
  { publicKey, kind }: Pick<PublicDkimKey, "publicKey" | "kind">,
): string | null {
  const tags = tagsOf(record);
  const published = tags?.get("p");
  // The version may be left out; otherwise it comes first.
  const isOtherVersion = tags?.has("v") === true && [...tags][0]?.join("=") !== "v=DKIM1";
  if (tags === null || published === undefined || isOtherVersion)
    return "The TXT record of this name is not a DKIM record. Replace it by the expected value.";
  if (published === "")
    return "The key is revoked: `p=` is empty. Put the expected value in its place, or rotate the key.";
  if (published !== publicKey) return "Another key is published here. Replace it by the expected value.";
  const allows = (tag: string, values: readonly string[]) =>
    (tags.get(tag) ?? values[0] ?? "").split(":").some((value) => values.includes(value));
  // Left out, `k=` means RSA.
  if ((tags.get("k") ?? "rsa") !== kind || !allows("h", ["sha256"]) || !allows("s", ["*", "email"]))
    return "The key is there, but `k=`, `h=` or `s=` beside it forbid its use. Replace the record by the expected value.";
  return null;
}

/** A tag list (RFC 6376 §3.2) by name; white space means nothing. Null when it is none: a tag twice, or a part without `=`. */
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

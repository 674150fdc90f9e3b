// Detects mistakes in a published record from its DNS records and from common wrong places. Pure.
import { mistakeOf, type DomainMistake } from "@postloft/contract/domain-mistakes.ts";

/** The expected record and the DNS records around it. */
export interface RecordFacts {
  purpose: "dkim" | "spf" | "dmarc";
  name: string;
  /** The expected value. */
  value: string;
  /** The TXT records of the name. */
  texts: readonly string[];
  /** The alias and address of a name without TXT records. Null if there is none or a wildcard answers. */
  alias: string | null;
  address: string | null;
  /** TXT records of the name with a zone appended twice, by zone. */
  doubled: Readonly<Record<string, readonly string[]>>;
  /** The domain the record is for, and its TXT records. */
  domain: string;
  atDomain: readonly string[];
}

const BEGINNING = {
  dkim: /^\s*v\s*=\s*DKIM1|(^|;)\s*p=/i,
  spf: /^\s*v=spf1/i,
  dmarc: /^\s*v\s*=\s*DMARC1/i,
};
const QUOTES = /["“”]/g;

/** Returns every mistake that explains the DNS records. Empty if the record is simply missing, or works. */
export function mistakesOf(facts: RecordFacts): DomainMistake[] {
  const { purpose, value, texts } = facts;
  const meant = texts.filter((text) => isMeant(text, purpose));
  if (meant.length === 0) return placeMistakes(facts);
  if (meant.length > 1) return [mistakeOf("record.several", { count: meant.length })];
  const [only = ""] = meant;
  if (bare(only) !== only.trim()) return [mistakeOf("value.quoted")];
  return purpose === "dkim" ? keyMistakes(only, value) : [];
}

const isMeant = (text: string, purpose: RecordFacts["purpose"]) => BEGINNING[purpose].test(bare(text));
const bare = (text: string) => text.replaceAll(QUOTES, "").trim();

/** Finds a misplaced record, or another record in its place. */
function placeMistakes(facts: RecordFacts): DomainMistake[] {
  const { purpose, name, alias, address, doubled, domain, atDomain } = facts;
  const isThere = (texts: readonly string[]) => texts.some((text) => isMeant(text, purpose));
  const [zone] = Object.entries(doubled).find(([, texts]) => isThere(texts)) ?? [];
  if (zone !== undefined) {
    const short = name === zone ? "@" : name.slice(0, -zone.length - 1);
    return [mistakeOf("name.doubled", { found: `${name}.${zone}`, zone, short })];
  }
  if (name !== domain && isThere(atDomain)) return [mistakeOf("name.left", { found: domain, name })];
  if (alias !== null) return [mistakeOf("type.alias", { name, target: alias })];
  if (address !== null && name !== domain) return [mistakeOf("type.address", { name, address })];
  return [];
}

function keyMistakes(text: string, value: string): DomainMistake[] {
  const [found, expected] = [keyOf(text), keyOf(value)];
  if (found === expected || found === "") return [];
  return expected.startsWith(found)
    ? [mistakeOf("value.cutOff", { length: found.length, expected: expected.length })]
    : [mistakeOf("value.otherKey")];
}

/** Returns the value of `p=` without white space. */
function keyOf(text: string): string {
  const part = text.split(";").find((one) => one.trim().startsWith("p=")) ?? "";
  return part.slice(part.indexOf("=") + 1).replaceAll(/\s+/g, "");
}

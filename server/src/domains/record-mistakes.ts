// What went wrong when somebody entered a record, told from what DNS has in its place and in the wrong ones. Pure.
import { mistakeOf, type DomainMistake } from "@postloft/contract/domain-mistakes.ts";

/** A record as it should be, and what DNS has. */
export interface RecordFacts {
  purpose: "dkim" | "spf" | "dmarc";
  name: string;
  /** What should be published. */
  value: string;
  /** The texts of the name. */
  texts: readonly string[];
  /** Of a name that has no text: what it is an alias of, and an address of it; null where it has none, or where every name beside it has one. */
  alias: string | null;
  address: string | null;
  /** The texts of the name with a zone behind it once more, by zone. */
  doubled: Readonly<Record<string, readonly string[]>>;
  /** The domain the record is for, and its texts. */
  domain: string;
  atDomain: readonly string[];
}

const BEGINNING = {
  dkim: /^\s*v\s*=\s*DKIM1|(^|;)\s*p=/i,
  spf: /^\s*v=spf1/i,
  dmarc: /^\s*v\s*=\s*DMARC1/i,
};
const QUOTES = /["“”]/g;

/** Every mistake that explains what DNS has; none where the record is simply not there, or works. */
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

/** The record is elsewhere, or something else stands in its place. */
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

/** What stands behind `p=`, white space apart. */
function keyOf(text: string): string {
  const part = text.split(";").find((one) => one.trim().startsWith("p=")) ?? "";
  return part.slice(part.indexOf("=") + 1).replaceAll(/\s+/g, "");
}

// Interprets DNS responses and the lists for an address. Pure, without clock or network.
import { domainOf } from "@postloft/contract/address.ts";
import type { Verification } from "@postloft/contract/verify.ts";
import type { DnsAnswer, RecordType } from "../platform/dns.ts";
import { optional } from "./shard.ts";
import {
  DISPOSABLE_DOMAINS,
  FORWARDING_DOMAINS,
  MISTYPED_ENDINGS,
  NOT_MISSPELT,
  PERSONAL_DOMAINS,
  SQUATTED_TARGETS,
  TYPO_TARGETS,
} from "./verify-data.ts";

export const RECORD_TYPES = ["MX", "A", "AAAA", "NS"] as const satisfies readonly RecordType[];

export type DomainAnswers = Readonly<Record<(typeof RECORD_TYPES)[number], DnsAnswer>>;

export interface DomainFacts {
  exists: "yes" | "no" | "unknown";
  /** How the domain receives mail: `address` without an MX (RFC 5321 §5.1), `refused` with a null MX (RFC 7505). */
  receives: "mx" | "address" | "refused" | "no" | "unknown";
  hasWebsite: boolean;
  /** A code of node:dns if a relevant query was not answered. */
  trouble: string | null;
}

/** Concludes nothing from missing responses. A domain does not exist, or receives no mail, only if every response says so. */
export function readDomain(responses: DomainAnswers): DomainFacts {
  const all = RECORD_TYPES.map((type) => responses[type]);
  const hasWebsite = isFound(responses.A) || isFound(responses.AAAA);
  const exists = all.some(isFound)
    ? "yes"
    : all.every(({ kind }) => kind !== "unanswered")
      ? "no"
      : "unknown";
  const receives = readReceiving(responses, hasWebsite);
  const mattering = hasWebsite ? [responses.MX] : [responses.MX, responses.A, responses.AAAA];
  const silent = [...mattering, ...(exists === "unknown" ? [responses.NS] : [])].find(
    ({ kind }) => kind === "unanswered",
  );
  return { exists, receives, hasWebsite, trouble: silent?.kind === "unanswered" ? silent.reason : null };
}

/** Returns the facts when DNS could not be queried at all. */
export function unknownDomain(reason: string): DomainFacts {
  return { exists: "unknown", receives: "unknown", hasWebsite: false, trouble: reason };
}

function isFound(response: DnsAnswer): boolean {
  return response.kind === "records" && response.records.length > 0;
}

function readReceiving(responses: DomainAnswers, hasWebsite: boolean): DomainFacts["receives"] {
  const { MX, A, AAAA } = responses;
  if (MX.kind === "unanswered") return "unknown";
  if (MX.kind === "records" && MX.records.length > 0)
    return MX.records.some((host) => host !== "" && host !== ".") ? "mx" : "refused";
  if (hasWebsite) return "address";
  return A.kind === "unanswered" || AAAA.kind === "unanswered" ? "unknown" : "no";
}

/** Returns the verification of a canonical address, given the facts about its domain. */
export function verifyAddress(email: string, facts: DomainFacts): Verification {
  const domain = domainOf(email);
  const localPart = email.slice(0, -domain.length - 1);
  const suggestion = suggestDomain(domain, facts.receives);
  const verdict = {
    email,
    valid: facts.exists !== "no" && facts.receives !== "no" && facts.receives !== "refused",
    isDisposable: isDisposable(domain),
    isAlias: forwarderOf(domain) !== undefined,
    isTypo: suggestion !== null,
    isPlusAddressed: localPart.includes("+"),
    isPersonalEmail: PERSONAL_DOMAINS.has(domain),
    domainExists: facts.exists !== "no",
    hasWebsite: facts.hasWebsite,
    hasMxRecords: facts.receives === "mx",
  };
  return {
    ...verdict,
    reasons: explain(domain, facts, verdict, suggestion),
    ...optional("suggestedEmail", suggestion === null ? undefined : `${localPart}@${suggestion}`),
  };
}

type Verdict = Omit<Verification, "reasons" | "suggestedEmail">;

function explain(domain: string, facts: DomainFacts, verdict: Verdict, suggestion: string | null): string[] {
  const wrong: Array<[boolean, string]> = [
    [facts.exists === "no", `The domain ${domain} does not exist.`],
    [
      facts.receives === "no" && facts.exists !== "no",
      `The domain ${domain} cannot receive email because it has neither a mail server (MX) nor an address.`,
    ],
    [facts.receives === "refused", `The domain ${domain} accepts no email (null MX).`],
    [
      facts.receives === "address",
      `The domain ${domain} has no mail server (MX), so email goes to its address instead.`,
    ],
    [
      facts.trouble !== null,
      `The domain ${domain} could not be checked completely: ${describeTrouble(facts.trouble ?? "")}.`,
    ],
    [verdict.isTypo, `The domain ${domain} looks like a misspelling of ${suggestion}.`],
    [verdict.isDisposable, `The domain ${domain} provides disposable addresses.`],
    [
      verdict.isAlias,
      `The address is an alias of ${forwarderOf(domain)}, which forwards to another address.`,
    ],
    [verdict.isPlusAddressed, 'The address has a tag after a "+".'],
  ];
  const reasons = wrong.filter(([applies]) => applies).map(([, sentence]) => sentence);
  return reasons.length > 0 ? reasons : [`This address has no problems, and ${domain} receives email.`];
}

function describeTrouble(code: string): string {
  if (code === "ETIMEOUT") return "DNS did not respond in time";
  if (code === "ECONNREFUSED") return "no DNS server can be reached";
  if (code === "ESERVFAIL" || code === "EREFUSED") return "the DNS server failed";
  return code === "EBUSY" ? "too many domains are being looked up" : "DNS sent an unreadable response";
}

function isDisposable(domain: string): boolean {
  return withParents(domain).some((name) => DISPOSABLE_DOMAINS.has(name));
}

/** Returns the forwarding service of a domain or one of its parents. */
function forwarderOf(domain: string): string | undefined {
  const known = withParents(domain).find((name) => FORWARDING_DOMAINS.has(name));
  return known === undefined ? undefined : FORWARDING_DOMAINS.get(known);
}

/** `a.b.example` → `a.b.example`, `b.example`. */
function withParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join("."));
}

/**
 * Returns the domain that was probably meant, or null. A domain that receives mail, or might, or is disposable, is only a misspelling of
 * targets whose misspellings are squatted. A domain that cannot receive mail may be further away.
 */
export function suggestDomain(domain: string, receives: DomainFacts["receives"]): string | null {
  if (isWellKnown(domain)) return null;
  const isDead = (receives === "no" || receives === "refused") && !isDisposable(domain);
  const plain = receives === "mx" ? domain : withCorrectedEnding(domain);
  if (PERSONAL_DOMAINS.has(plain)) return plain;
  const ranked = TYPO_TARGETS.map((target) => ({ target, distance: distanceOf(plain, target, isDead) }))
    .filter(({ distance }) => distance <= MAX_DISTANCE)
    .toSorted((a, b) => a.distance - b.distance);
  return ranked[0]?.target ?? (plain === domain ? null : plain);
}

function isWellKnown(domain: string): boolean {
  return PERSONAL_DOMAINS.has(domain) || NOT_MISSPELT.has(domain) || forwarderOf(domain) !== undefined;
}

/** `example.con` → `example.com`. */
function withCorrectedEnding(domain: string): string {
  const dot = domain.lastIndexOf(".");
  const ending = MISTYPED_ENDINGS.get(domain.slice(dot + 1));
  return ending === undefined ? domain : domain.slice(0, dot + 1) + ending;
}

const MAX_DISTANCE = 2;
/** Shorter names have too many legitimate neighbours. */
const LONG_NAME_LENGTH = 5;

/** Returns the edits from a domain to a target, or Infinity if the target must not be suggested. */
function distanceOf(domain: string, target: string, isDead: boolean): number {
  const [name = ""] = target.split(".");
  const isLong = name.length >= LONG_NAME_LENGTH;
  // People rarely mistype the first letter, and cloud.com and email.com are legitimate.
  if (!isDead && !(SQUATTED_TARGETS.has(target) && domain[0] === target[0])) return Infinity;
  if (isDead && SQUATTED_TARGETS.has(target) && hasOtherEnding(domain, name)) return MAX_DISTANCE;
  const distance = editDistance(domain, target);
  return distance <= (isDead && isLong ? MAX_DISTANCE : 1) ? distance : Infinity;
}

/** True for `yahoo.xyz` and `gmail.com.br`, but not for `outlook.example.com`. */
function hasOtherEnding(domain: string, name: string): boolean {
  return domain.startsWith(`${name}.`) && /^(com?\.)?[a-z]+$/.test(domain.slice(name.length + 1));
}

/**
 * Returns the number of insertions, deletions, replacements and swaps of neighbours between two texts (optimal string alignment). Infinity
 * if the lengths differ by more than two.
 */
export function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > MAX_DISTANCE) return Infinity;
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      rows[row]?.push(
        Math.min(
          cell(row - 1, column) + 1,
          cell(row, column - 1) + 1,
          cell(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwap ? cell(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return cell(from.length, to.length);
}

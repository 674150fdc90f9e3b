// Rules for verifying a domain, the result of a check, and its problems in words. Pure.
import { dnsMessage, type DnsAdvice } from "@postloft/contract/dns-advice.ts";
import { dkimName, classifyDkim, type PublicDkimKey } from "./dkim-record.ts";
import { dmarcNames } from "./dmarc-record.ts";
import type { DomainRow, FoundRecords } from "./queries.ts";

/** A domain loses its verification after this many consecutive failed checks. */
export const MAX_FAILED_CHECKS = 3;
/** Checks closer together than this count as one, so that repeated clicks can't unverify a domain. */
export const FAILED_CHECK_GAP_MS = 4 * 60_000;
const CHECK_EVERY_MS = 5 * 60_000;
/** A domain without published records for this long is checked less often. */
const SLOW_AFTER_MS = 7 * 24 * 60 * 60_000;
const SLOW_CHECK_EVERY_MS = 60 * 60_000;
/** Email can be in transit for days, and receivers need the key that signed it. */
export const FORMER_KEY_MS = 7 * 24 * 60 * 60_000;

/** `unknown`: DNS did not answer, which proves nothing either way. */
export type Proof = "found" | "missing" | "unknown";

/** The second key while it is in use: the next one, or the former one until it expires. */
export type SecondKey = PublicDkimKey & ({ role: "next" } | { role: "former"; until: Date });

type State = Pick<DomainRow, "status" | "failedChecks" | "failedAt">;

export function signingKeyOf(row: DomainRow): PublicDkimKey {
  return { domain: row.domain, selector: row.dkimSelector, publicKey: row.dkimPublicKey, kind: "rsa" };
}

/** Returns the Ed25519 key, which signs in addition to the RSA key while DNS publishes it. Null if it is disabled. */
export function ed25519KeyOf(row: DomainRow): PublicDkimKey | null {
  const { domain, ed25519Selector: selector, ed25519PublicKey: publicKey } = row;
  return selector === null || publicKey === null ? null : { domain, selector, publicKey, kind: "ed25519" };
}

/** Returns whether the Ed25519 key may sign after a check. Without a DNS answer this does not change. */
export function isEd25519Published(row: DomainRow, found: FoundRecords): boolean {
  const key = ed25519KeyOf(row);
  if (key === null) return false;
  const proof = proofOf(key, found);
  return proof === "unknown" ? row.ed25519Published : proof === "found";
}

export function secondKeyOf(row: DomainRow): SecondKey | null {
  const { secondDkimSelector: selector, secondDkimPublicKey: publicKey, secondDkimUntil: until } = row;
  if (selector === null || publicKey === null || (until !== null && until <= row.now)) return null;
  const key = { domain: row.domain, selector, publicKey, kind: "rsa" as const };
  return until === null ? { ...key, role: "next" } : { ...key, role: "former", until };
}

/** Returns the names whose TXT records a check asks for, except SPF: at most three keys, and eight of DMARC. */
export function namesToAsk(row: DomainRow): string[] {
  const besides = [secondKeyOf(row), ed25519KeyOf(row)].filter((key) => key !== null);
  return [dkimName(signingKeyOf(row)), ...besides.map(dkimName), ...dmarcNames(row.domain)];
}

/** Returns the entry of `FoundRecords` for the MX records of a domain. No name has a blank. */
export const mxKey = (domain: string) => `MX ${domain}`;

/** Returns whether DNS publishes one of our keys, and whether it is the next one, which then takes over. */
export function evaluateProof(
  row: DomainRow,
  found: FoundRecords,
): { proof: Proof; isNextPublished: boolean } {
  const second = secondKeyOf(row);
  const next = second?.role === "next" ? proofOf(second, found) : "missing";
  if (next === "found") return { proof: "found", isNextPublished: true };
  const signing = proofOf(signingKeyOf(row), found);
  const isUnknown = signing === "missing" && next === "unknown";
  return { proof: isUnknown ? "unknown" : signing, isNextPublished: false };
}

function proofOf(key: PublicDkimKey, found: FoundRecords): Proof {
  const { status } = classifyDkim(found[dkimName(key)], key);
  if (status === "UNCHECKED") return "unknown";
  return status === "FOUND" ? "found" : "missing";
}

/** Returns the status of a domain after a check. `now` is the database's clock. */
export function nextState(state: State, proof: Proof, now: Date): State {
  if (proof === "found") return { status: "VERIFIED", failedChecks: 0, failedAt: null };
  const isSoon = state.failedAt !== null && now.getTime() - state.failedAt.getTime() < FAILED_CHECK_GAP_MS;
  if (proof === "unknown" || state.status === "PENDING" || isSoon)
    return { status: state.status, failedChecks: state.failedChecks, failedAt: state.failedAt };
  const failed = state.failedChecks + 1;
  return {
    status: failed >= MAX_FAILED_CHECKS ? "PENDING" : "VERIFIED",
    failedChecks: failed,
    failedAt: now,
  };
}

/** Returns whether a domain was verified, until its checks failed. */
export function isLost({ status, failedChecks }: Pick<State, "status" | "failedChecks">): boolean {
  return status === "PENDING" && failedChecks >= MAX_FAILED_CHECKS;
}

/** Returns the time until the next check. */
export function nextCheckMs(status: string, changedAt: Date, now: Date): number {
  const isSlow = status === "PENDING" && now.getTime() - changedAt.getTime() > SLOW_AFTER_MS;
  return isSlow ? SLOW_CHECK_EVERY_MS : CHECK_EVERY_MS;
}

/** Returns the problems that members should know about. Empty if all is well or nothing was checked yet. */
export function problemsOf(row: DomainRow): DnsAdvice[] {
  return [...lostProofOf(row), ...problemOf(row)];
}

/** Value of `check_problem` if another project has verified the domain. Other values are DNS errors. */
export const TAKEN = "TAKEN";

function problemOf({ checkProblem: problem }: DomainRow): DnsAdvice[] {
  if (problem === null) return [];
  return [
    problem === TAKEN ? dnsMessage("proof.elsewhere") : dnsMessage("proof.undecided", { trouble: problem }),
  ];
}

function lostProofOf(row: DomainRow): DnsAdvice[] {
  if (row.failedChecks === 0) return [];
  const most = MAX_FAILED_CHECKS;
  if (row.status === "VERIFIED") return [dnsMessage("proof.endangered", { failed: row.failedChecks, most })];
  return [dnsMessage("proof.lost", { since: row.statusChangedAt.toISOString(), most })];
}

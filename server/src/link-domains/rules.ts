// Rules of link domains: their DNS records, the state after a check, and what they serve. Pure.
import { isIP } from "node:net";
import type { LinkDomainProblem } from "@postloft/contract/link-domains.ts";
import { FAILED_CHECK_GAP_MS, MAX_FAILED_CHECKS } from "../domains/rules.ts";
import type { LinkDomainRow } from "./queries.ts";

/** Below the domain, because a name with an alias can't have other records (RFC 1034 §3.6.2). */
const PROOF_LABEL = "_postloft";
export const REACH_PATH = "/.well-known/postloft";

/** The record that proves that the domain belongs to a project. Without it, another project could take over a domain that leads here. */
export function proofRecord(domain: string, publicId: string): { name: string; value: string } {
  return { name: `${PROOF_LABEL}.${domain}`, value: `postloft=${publicId}` };
}

/** The record that leads to the installation, with the address itself if the installation has no name. */
export function aliasRecord(domain: string, baseUrl: string) {
  const value = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "");
  const type = ({ 0: "CNAME", 4: "A", 6: "AAAA" } as const)[isIP(value) as 0 | 4 | 6];
  return { type, name: domain, value };
}

/** Returns the address of a link domain, with the scheme and port of the installation. */
export function originAt(domain: string, baseUrl: string): string {
  const { protocol, port } = new URL(baseUrl);
  return `${protocol}//${domain}${port === "" ? "" : `:${port}`}`;
}

export interface CheckResult {
  /** `unknown`: DNS did not respond, which proves nothing either way. */
  result: "ok" | "failed" | "unknown";
  problem: LinkDomainProblem | null;
  detail: string | null;
}

export type LinkDomainState = Pick<LinkDomainRow, "status" | "failedChecks" | "failedAt">;

/** Returns the state after the DNS records were looked up. */
export function afterDns(state: LinkDomainState, { result }: CheckResult, now: Date): LinkDomainState {
  if (result === "ok") return state.status === "PENDING" ? fresh("VERIFIED") : state;
  if (result === "unknown" || state.status === "PENDING") return state;
  return afterFailure(state, "PENDING", now);
}

/** Returns the state after a page was requested at the domain, whose DNS records are correct. */
export function afterReach(state: LinkDomainState, { result }: CheckResult, now: Date): LinkDomainState {
  if (state.status === "PENDING") return state;
  if (result === "ok") return fresh("ACTIVE");
  return result === "failed" && state.status === "ACTIVE" ? afterFailure(state, "VERIFIED", now) : state;
}

const fresh = (status: LinkDomainRow["status"]): LinkDomainState => ({
  status,
  failedChecks: 0,
  failedAt: null,
});

/** Counts a failed check, unless the last one was moments ago, so that repeated clicks can't turn a domain off. */
function afterFailure(state: LinkDomainState, lower: LinkDomainRow["status"], now: Date): LinkDomainState {
  if (state.failedAt !== null && now.getTime() - state.failedAt.getTime() < FAILED_CHECK_GAP_MS) return state;
  const failedChecks = state.failedChecks + 1;
  return failedChecks >= MAX_FAILED_CHECKS ? fresh(lower) : { ...state, failedChecks, failedAt: now };
}

const PUBLIC_PATH = /^\/(?:c|o|unsubscribe|subscribe|manage)\/([\w-]{22})|^\/images\/([0-9a-f]{32})/;
const ID_BYTES = 16;

/** Returns the project whose link, image or page a path is, in hexadecimal. Null for every other path. */
export function projectOfPath(path: string): string | null {
  const [, token, hex] = PUBLIC_PATH.exec(path) ?? [];
  if (token === undefined) return hex ?? null;
  // Every token begins with the id of its project.
  return Buffer.from(token, "base64url").subarray(0, ID_BYTES).toString("hex");
}

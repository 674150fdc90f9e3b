// Decides whether the checks of a sender prove the domain of an address. Pure.
import type { senderChecks } from "@postloft/contract/received-emails.ts";
import type { z } from "zod";

export type SenderChecks = z.output<typeof senderChecks>;

/**
 * Returns whether the results prove the domain of an address. DMARC must have been checked for this very domain, because two parsers may
 * read a malformed From differently.
 */
export function provesDomain({ spf: envelope, dkim, dmarc: policy }: SenderChecks, domain: string): boolean {
  if (policy.domain !== domain) return false;
  if (policy.result !== "none") return policy.result === "pass";
  return [envelope, ...dkim].some((one) => one.result === "pass" && one.domain === domain);
}

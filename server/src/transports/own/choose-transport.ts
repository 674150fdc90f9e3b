// Chooses the transport of an email among those of its project. Pure.
import type { EmailKind } from "@postloft/contract/emails.ts";

/** The emails that take a transport. */
export interface Match {
  /** Null for all kinds. */
  kinds: readonly string[] | null;
  /** The sender domain, or null for all domains. */
  domain: string | null;
}

/**
 * Returns the most specific match: domain and kind, then domain, then kind, then neither. Returns undefined if none matches, so that the
 * email takes the installation's transport.
 */
export function chooseTransport<One extends Match>(
  transports: readonly One[],
  email: { kind: EmailKind; domain: string },
): One | undefined {
  return transports
    .filter(({ kinds }) => kinds === null || kinds.includes(email.kind))
    .filter(({ domain }) => domain === null || domain === email.domain)
    .toSorted((a, b) => rankOf(b) - rankOf(a))[0];
}

/** Returns whether some email would match both equally well. */
export function overlaps(a: Match, b: Match): boolean {
  if (a.domain !== b.domain || (a.kinds === null) !== (b.kinds === null)) return false;
  return a.kinds === null || a.kinds.some((kind) => b.kinds?.includes(kind) === true);
}

const rankOf = ({ kinds, domain }: Match): number => (domain === null ? 0 : 2) + (kinds === null ? 0 : 1);

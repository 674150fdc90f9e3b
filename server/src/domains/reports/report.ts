// Types and parsers for receivers' reports about domains, independent of their format.
import { readText } from "../../platform/foreign-values.ts";

interface Common {
  /** The reporter's self-chosen name, not verified. */
  reporter: string;
  reportId: string;
  begin: Date;
  end: Date;
}

/** Replaces the IP address for the sources that are not listed individually. */
export const OTHER_SOURCES = "other";

/** Messages of one sender with the same result. */
export interface DmarcSource {
  /** An IP address, or `OTHER_SOURCES`. */
  ip: string;
  messages: number;
  disposition: string;
  /** Whether it passed and is aligned with the domain in From. */
  dkim: boolean;
  spf: boolean;
  headerFrom: string;
  /** Domains with a valid DKIM signature. */
  signers: string[];
}

/** RFC 9990, and its predecessor RFC 7489 appendix C. */
export interface DmarcReport extends Common {
  kind: "dmarc";
  /** The domain that publishes the policy. */
  domain: string;
  policy: string | null;
  sources: DmarcSource[];
}

export interface TlsPolicy {
  domain: string;
  successes: number;
  failures: number;
  details: Array<{ result: string; count: number; mx: string | null }>;
}

/** RFC 8460. */
export interface TlsReport extends Common {
  kind: "tls";
  policies: TlsPolicy[];
}

export type DomainReport = DmarcReport | TlsReport;

/** Returns a foreign value as one line of text; '' if it is not text. */
export function plainText(value: unknown, maxLength: number): string {
  return (readText(value, maxLength) ?? "").replaceAll(/\p{Cc}/gu, " ");
}

/** Returns a domain in lower case without the final dot; '' if it is invalid. */
export function plainDomain(value: unknown): string {
  const text = plainText(value, 260).toLowerCase().replace(/\.$/, "");
  return /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){1,20}$/.test(text) ? text : "";
}

const MOST = 1_000_000_000;

/** Returns a plausible count; 0 if it is invalid. */
export function plainCount(value: unknown): number {
  const count = typeof value === "number" ? value : Number(plainText(value, 20) || "0");
  return Number.isSafeInteger(count) && count > 0 ? Math.min(count, MOST) : 0;
}

const EARLIEST_MS = Date.UTC(2010, 0, 1);
const LATEST_MS = Date.UTC(2200, 0, 1);

/** Returns a plausible instant from milliseconds, or null. */
export function plainInstant(ms: number): Date | null {
  return ms > EARLIEST_MS && ms < LATEST_MS ? new Date(ms) : null;
}

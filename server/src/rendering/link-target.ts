// Decides which URLs are redirected and how a redirected link is written. Used when writing emails and when handling clicks. Pure.

import { createHash, createHmac } from "node:crypto";
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** One link of a message template. Equal URLs are one link because the number is a hash of the URL. */
export interface ContentLink {
  number: number;
  /** The URL, with variables as written in the template. */
  url: string;
}

/** How to write the links and the pixel of one email. The key only signs URLs of this email. */
export interface MailTracking {
  /** Precedes a link's number. */
  clickUrl: string;
  pixelUrl: string;
  linkKey: string;
}

/** Limit in percent-encoded octets, half of the 16 kB Node allows for request headers. Longer links stay unchanged. */
const QUERY_LENGTH_MAX_CHARACTERS = 8_000;

/** 72 bits in base64url. */
const SIGNATURE_LENGTH = 12;
/** Radix of the link numbers in URLs. */
export const NUMBER_RADIX = 36;

const WEB_ADDRESS = /^https?:\/\/[^/?#\\]/i;
/** The recipient's own pages. Their URLs are secret because they end in a token. */
const OWN_PAGE = /\/(?:unsubscribe|subscribe|manage)\/[\w-]{64}$/;

/** Returns the URL a click may redirect to, or null. Only web URLs are allowed, except for the recipient's own pages. */
export function targetOf(address: string): string | null {
  const target = address.trim();
  if (!WEB_ADDRESS.test(target) || target.length > LIMITS.trackedLinkLength.value) return null;
  const parsed = URL.parse(target);
  if (parsed === null || OWN_PAGE.test(parsed.pathname)) return null;
  return target.toWellFormed();
}

/** Returns the target for a `Location` header: ASCII, normalized like in a browser. */
export function locationOf(target: string): string | null {
  const checked = targetOf(target);
  return checked === null ? null : (URL.parse(checked)?.href ?? null);
}

/** Identifies the pixel where links have their numbers. */
export const PIXEL_NUMBER = 0;

/** Returns the number of a link within its message template, a hash of the URL. Never equals PIXEL_NUMBER. */
export function numberOf(url: string, isFixed: boolean): number {
  const hash = createHash("sha256").update(url).digest().readUInt32BE() >>> 3;
  return 2 * (hash + 1) + (isFixed ? 0 : 1);
}

/** Returns whether the URL of this link is the same in all emails and therefore not signed in each one. */
export function isFixedLink(number: number): boolean {
  return number % 2 === 0;
}

/** Returns a signature (72 bits, base64url) which proves that this URL was in the email with this key. */
export function signTarget(linkKey: string, number: number, target: string): string {
  return createHmac("sha256", linkKey)
    .update(`${number} ${target}`)
    .digest("base64url")
    .slice(0, SIGNATURE_LENGTH);
}

/**
 * Returns a redirect link with number, signature and URL, without characters that need escaping in HTML.
 * Returns null for a URL that would exceed the request size servers accept.
 */
export function signedLink(
  { clickUrl, linkKey }: MailTracking,
  number: number,
  target: string,
): string | null {
  const query = inQuery(target);
  if (query.length > QUERY_LENGTH_MAX_CHARACTERS) return null;
  return `${clickUrl}${number.toString(NUMBER_RADIX)}.${signTarget(linkKey, number, target)}?u=${query}`;
}

/**
 * Keeps characters readable that a query may contain. Encodes apostrophes, which could end an attribute, and plus signs, which decode to
 * spaces.
 */
function inQuery(text: string): string {
  return text.replace(/[^\w\-.~:/?=@,;!$*()]+/g, encodeOctets);
}

function encodeOctets(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

// Where a link leads, and how it is written when it goes by way of us: the one place that says which addresses are redirected to, for the
// mail that is written and for the click that comes back. Pure.

import { createHash, createHmac } from "node:crypto";
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** One link of a content. Equal addresses are one link, and its number is a hash: whoever finds it finds the same. */
export interface ContentLink {
  number: number;
  /** The address; where it has variables, as the template says it. */
  url: string;
}

/** How the links and the pixel of one mail are written. The key signs addresses of this mail and of no other. */
export interface MailTracking {
  /** What stands before a link's number. */
  clickUrl: string;
  pixelUrl: string;
  linkKey: string;
}

/** As octets in percent signs; half of the 16 kB that Node takes of a request's headers. A longer link stays as it is. */
const QUERY_LENGTH_MAX_CHARACTERS = 8_000;

/** 72 bits as base64url writes them. */
const SIGNATURE_LENGTH = 12;
/** Numbers are written so. */
export const NUMBER_RADIX = 36;

const WEB_ADDRESS = /^https?:\/\/[^/?#\\]/i;
/** The recipient's own pages, whose addresses are a secret between them and us: they end in a token. */
const OWN_PAGE = /\/(?:unsubscribe|subscribe|manage)\/[\w-]{64}$/;

/** The address a click on this may lead to, or null: only web addresses do, and none of a recipient's own pages. */
export function targetOf(address: string): string | null {
  const target = address.trim();
  if (!WEB_ADDRESS.test(target) || target.length > LIMITS.trackedLinkLength.value) return null;
  const parsed = URL.parse(target);
  if (parsed === null || OWN_PAGE.test(parsed.pathname)) return null;
  return target.toWellFormed();
}

/** The target as a `Location` header writes it: ASCII, and what a browser would ask for. */
export function locationOf(target: string): string | null {
  const checked = targetOf(target);
  return checked === null ? null : (URL.parse(checked)?.href ?? null);
}

/** Stands for the pixel where links have their numbers. */
export const PIXEL_NUMBER = 0;

/** The name of a link within its content: a hash of the address, even for one that all mails share. Never the pixel's. */
export function numberOf(url: string, isFixed: boolean): number {
  const hash = createHash("sha256").update(url).digest().readUInt32BE() >>> 3;
  return 2 * (hash + 1) + (isFixed ? 0 : 1);
}

/** Whether the address of this link is the same in all mails, and not signed in each. */
export function isFixedLink(number: number): boolean {
  return number % 2 === 0;
}

/** Proves that this address stood in the mail whose key it is: 72 bits, base64url. */
export function signTarget(linkKey: string, number: number, target: string): string {
  return createHmac("sha256", linkKey)
    .update(`${number} ${target}`)
    .digest("base64url")
    .slice(0, SIGNATURE_LENGTH);
}

/**
 * A link to an address that only this mail has: number, signature and the address itself. Holds no character HTML minds.
 * Null for an address that written so is longer than what servers read of a request.
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

/** What a query may hold as it is stays readable; an apostrophe could end an attribute, a plus would be read as a space. */
function inQuery(text: string): string {
  return text.replace(/[^\w\-.~:/?=@,;!$*()]+/g, encodeOctets);
}

function encodeOctets(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

// Parses email addresses from callers, forms, CSV rows and SMTP clients into one canonical text, or returns the reason why not.

import { refuse, refuseAs, type Refused, type RefusedAs } from "./refused-address.ts";
import { withValues, type ErrorMessage } from "./translation.ts";

/** The whole address with its domain as A-labels (RFC 5321 §4.5.3.1.3 minus the angle brackets, erratum 1690). */
const ADDRESS_MAX_OCTETS = 254;
/** RFC 5321 §4.5.3.1.1; a local part outside ASCII is counted in UTF-8 (RFC 6531 §3.3). */
const LOCAL_PART_MAX_OCTETS = 64;
/** RFC 1035 §2.3.4, in the dotted form. */
const DOMAIN_MAX_OCTETS = 253;
const LABEL_MAX_OCTETS = 63;
const NAME_MAX_CHARS = 256;
/** Longer input is rejected without reading it. Leaves room for surrounding blanks and letters spelled with separate accents. */
const ADDRESS_INPUT_MAX_CHARS = 1_000;
const MAILBOX_INPUT_MAX_CHARS = 2_000;

/** Excludes invisible code points, such as variation selectors and fillers, from addresses. */
const NOT_IN_LOCAL_PART = /[^\p{L}\p{M}\p{Nd}.!#$%&'*+\-/=?^_`{|}~]|\p{Default_Ignorable_Code_Point}/u;
const NOT_IN_DOMAIN = /[^\p{L}\p{M}\p{Nd}.-]|\p{Default_Ignorable_Code_Point}/u;
/** Line breaks, other control characters, characters that change the reading direction, and unpaired surrogates. */
const NOT_IN_NAME = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
/** RFC 5322 §3.2.3 specials except the dot, because names such as "Dr. Who" contain it (obs-phrase). */
const NOT_IN_UNQUOTED_NAME = /[()<>[\]:;@\\,"]/;
const NON_ASCII = /[^\0-\x7F]/;
const ACCENT_WITHOUT_LETTER = /(?:^|[^\p{L}\p{M}\p{Nd}])\p{M}/u;
/** Latin may be mixed only with Chinese, Japanese and Korean (UTS #39 §5.2, highly restrictive). */
const LATIN = /\p{Script=Latin}/u;
const NOT_BESIDE_LATIN =
  /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;

/** Matches nearly every address, which is then canonical already by all rules below. A-labels need the full parser. */
const PLAIN_ADDRESS =
  /^(?!.*xn--)[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
/** Stays within the limits of the local part and of the whole address, so that nothing needs counting. */
const PLAIN_ADDRESS_MAX_CHARS = 64;

export type AddressResult = { ok: true; address: string } | RefusedAs;
export type MailboxResult = { ok: true; address: string; name?: string } | Refused;
export type DomainResult = { ok: true; domain: string } | Refused;
export type DisplayNameResult = { ok: true; name: string } | Refused;

/**
 * Parses one bare address and drops surrounding blanks. `address` is its canonical form in lower case and NFC, with the domain as A-labels.
 * Two spellings of one mailbox return the same text, and parsing that text returns it again. The local part is a dot-atom (RFC 5322 §3.2.3,
 * RFC 6532 §3.2), never a quoted string. Rejects a letter outside ASCII that becomes another spelling in lower case, upper case or
 * normalized, so that no look-alike of an existing address becomes a second address.
 * Takes linear time and never throws.
 */
export function parseAddress(text: string): AddressResult {
  if (text.length > ADDRESS_INPUT_MAX_CHARS) return refuseAs("address.long");
  return parseTrimmedAddress(text.trim());
}

/**
 * Parses exactly one mailbox: `a@b.c`, `<a@b.c>`, `Name <a@b.c>` or `"Quoted, Name" <a@b.c>` (RFC 5322 §3.4 without groups, comments and
 * folding). `address` is the result of `parseAddress`. `name` is unquoted, and absent if empty.
 */
export function parseMailbox(text: string): MailboxResult {
  if (text.length > MAILBOX_INPUT_MAX_CHARS) return refuse("The address is too long.");
  const mailbox = text.trim();
  if (!mailbox.endsWith(">")) return parseAddress(mailbox);
  // An address never contains "<", so the last one opens it even if a quoted name contains others.
  const open = mailbox.lastIndexOf("<");
  if (open === -1) return refuse('There is a ">" without its "<".');
  const address = parseTrimmedAddress(mailbox.slice(open + 1, -1));
  if (!address.ok) return address;
  const name = parsePhrase(mailbox.slice(0, open));
  if (!name.ok) return name;
  return name.name === "" ? address : { ...address, name: name.name };
}

/**
 * Checks a display name and drops surrounding blanks. Allows up to 256 characters and no line breaks or other control characters. Quotes
 * and commas are allowed, because the code that writes the header quotes them.
 */
export function parseDisplayName(text: string): DisplayNameResult {
  if (text.length > MAILBOX_INPUT_MAX_CHARS) return refuse("The name is too long.");
  const forbidden = NOT_IN_NAME.exec(text);
  if (forbidden) return refuse(notInName(forbidden[0]));
  const name = text.trim();
  if (name.length > NAME_MAX_CHARS)
    return refuse(withValues("The name is longer than {most} characters.", { most: NAME_MAX_CHARS }));
  return { ok: true, name };
}

/**
 * Parses a domain name, such as a sender domain, and drops surrounding blanks.
 * `domain` is lower-cased, as A-labels (UTS #46 by the platform's `URL`). It has at least two labels of letters, digits and hyphens, and is
 * never an IP address. The rarest letters outside ASCII (joiners, middle dots, emoji) are accepted only in their A-label spelling.
 */
export function parseDomain(text: string): DomainResult {
  if (text.length > ADDRESS_INPUT_MAX_CHARS) return refuse("The domain is too long.");
  if (/^[^[]*[/:]/.test(text))
    return refuse(
      withValues("Enter only the domain, without https:// or a path, such as {domain}.", {
        domain: hostOf(text),
      }),
    );
  return parseTrimmedDomain(text.trim());
}

/** Returns the host name of a web address. */
function hostOf(text: string): string {
  const address = text.includes("://") ? text : `https://${text}`;
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  return parseTrimmedDomain(host).ok ? host : "example.com";
}

/** Returns whether a canonical address can be sent only to servers that offer SMTPUTF8 (RFC 6531). */
export function hasNonAsciiLocalPart(address: string): boolean {
  return NON_ASCII.test(localPartOf(address));
}

/** Returns the part before the last `@`. */
export function localPartOf(address: string): string {
  return address.slice(0, Math.max(0, address.lastIndexOf("@")));
}

/** Returns the domain of a canonical address, as A-labels. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function parseTrimmedAddress(text: string): AddressResult {
  if (isPlainAddress(text)) return { ok: true, address: text };
  if (text === "") return refuseAs("address.empty");
  const at = text.indexOf("@");
  if (at === -1) return refuseAs("address.noAt");
  if (at !== text.lastIndexOf("@")) {
    return refuseAs("address.severalAt");
  }
  const localPart = parseLocalPart(text.slice(0, at));
  if (!localPart.ok) return localPart;
  const domain = parseTrimmedDomain(text.slice(at + 1));
  if (!domain.ok) return domain;
  const address = `${localPart.localPart}@${domain.domain}`;
  if (octetsOf(address) > ADDRESS_MAX_OCTETS) {
    return refuseAs("address.longerThan", { most: ADDRESS_MAX_OCTETS });
  }
  return { ok: true, address };
}

/** A fast path: full parsing returns the same result (a test compares them) but is far slower. */
function isPlainAddress(text: string): boolean {
  return text.length <= PLAIN_ADDRESS_MAX_CHARS && PLAIN_ADDRESS.test(text);
}

function parseLocalPart(text: string): { ok: true; localPart: string } | RefusedAs {
  if (text === "") return refuseAs("address.nothingBefore");
  const forbidden = NOT_IN_LOCAL_PART.exec(text);
  if (forbidden) return refuseAs("address.characterBefore", { character: describeCharacter(forbidden[0]) });
  if (text.startsWith(".") || text.endsWith(".") || text.includes("..")) {
    return refuseAs("address.dotBefore");
  }
  const localPart = text.normalize("NFC").toLowerCase().normalize("NFC");
  if (NON_ASCII.test(text) && (hasSecondSpelling(text) || looksLikeAnother(localPart))) {
    return refuseAs("address.lookalikeBefore");
  }
  if (octetsOf(localPart) > LOCAL_PART_MAX_OCTETS) {
    return refuseAs("address.longBefore", { most: LOCAL_PART_MAX_OCTETS });
  }
  return { ok: true, localPart };
}

function parseTrimmedDomain(text: string): { ok: true; domain: string } | RefusedAs {
  if (text === "") return refuseAs("domain.missing");
  if (text.startsWith("[")) return refuseAs("domain.ip");
  const forbidden = NOT_IN_DOMAIN.exec(text);
  if (forbidden) return refuseAs("domain.character", { character: describeCharacter(forbidden[0]) });
  if (text.endsWith(".")) return refuseAs("domain.endsWithDot");
  if (NON_ASCII.test(text) && hasSecondSpelling(text)) {
    return refuseAs("domain.lookalike");
  }
  const domain = toALabels(text);
  if (domain === undefined) return refuseAs("domain.invalid");
  if (domain.length > DOMAIN_MAX_OCTETS) {
    return refuseAs("domain.longerThan", { most: DOMAIN_MAX_OCTETS });
  }
  const labels = domain.split(".");
  const fault = labels.map(faultOfLabel).find((refused) => refused !== undefined);
  if (fault !== undefined) return fault;
  if (labels.length < 2) return refuseAs("domain.onePart");
  if (/^[0-9]+$/.test(labels.at(-1) ?? "")) return refuseAs("domain.number");
  return { ok: true, domain };
}

/** Returns the fault of one A-label (RFC 1123 §2.1), if any. */
function faultOfLabel(label: string): RefusedAs | undefined {
  if (label === "") return refuseAs("domain.dots");
  if (label.length > LABEL_MAX_OCTETS) return refuseAs("domain.longPart", { most: LABEL_MAX_OCTETS });
  if (label.startsWith("-") || label.endsWith("-")) return refuseAs("domain.hyphen");
  return /^[a-z0-9-]+$/.test(label) ? undefined : refuseAs("domain.invalid");
}

/**
 * Returns the host name as the platform's URL parser (UTS #46) reads it.
 * Returns undefined if a label does not encode or decode, or if plain ASCII would be read as something else (`1.2.3` and `1.0x10` become IP
 * addresses).
 */
function toALabels(domain: string): string | undefined {
  // Node decodes the A-labels of a host only if some label is not ASCII, so add such a label in front.
  const prefix = /xn--/i.test(domain) ? "\u00FC." : "";
  const url = `http://${prefix}${domain}`;
  if (!URL.canParse(url)) return undefined;
  const hostname = new URL(url).hostname.slice(prefix === "" ? 0 : "xn--tda.".length);
  return NON_ASCII.test(domain) || hostname === domain.toLowerCase() ? hostname : undefined;
}

/**
 * Returns whether normalizing would replace a letter with another one. Examples are full-width letters, ligatures, the long s and the
 * Kelvin sign.
 */
function hasSecondSpelling(text: string): boolean {
  if (text.normalize("NFC") !== text.normalize("NFKC")) return true;
  return Array.from(text).some(
    (letter) => NON_ASCII.test(letter) && !NON_ASCII.test(letter.normalize("NFC")),
  );
}

/**
 * Returns whether a lower-cased local part could be mistaken for another one.
 * That is the case for letters whose upper case leads back to another letter (dotless i, sharp s), a dot on an i that already has one (also
 * the lower case of U+0130), an accent that joins the character before the address, and Latin letters mixed with a script that resembles
 * Latin.
 */
function looksLikeAnother(localPart: string): boolean {
  return (
    localPart.toUpperCase().toLowerCase().normalize("NFC") !== localPart ||
    localPart.includes("\u0307") ||
    ACCENT_WITHOUT_LETTER.test(localPart) ||
    (LATIN.test(localPart) && NOT_BESIDE_LATIN.test(localPart))
  );
}

/** Parses the phrase before `<`, which is either one quoted string or words without specials. */
function parsePhrase(text: string): DisplayNameResult {
  // Check before trimming, because trimming would hide a line break before the "<".
  const forbidden = NOT_IN_NAME.exec(text);
  if (forbidden) return refuse(notInName(forbidden[0]));
  const phrase = text.trim();
  if (phrase.startsWith('"')) {
    const name = unquote(phrase);
    return name === undefined ? refuse("The quotes around the name do not match.") : parseDisplayName(name);
  }
  const special = NOT_IN_UNQUOTED_NAME.exec(phrase);
  if (special) {
    return refuse(
      withValues("{character} is allowed in the name only when the whole name is in quotes.", {
        character: describeCharacter(special[0]),
      }),
    );
  }
  return parseDisplayName(phrase);
}

/** Returns the content of a quoted string (RFC 5322 §3.2.4), or undefined if it does not close exactly at the end. */
function unquote(quoted: string): string | undefined {
  let content = "";
  for (let index = 1; index < quoted.length; index += 1) {
    if (quoted.charAt(index) === '"') return index === quoted.length - 1 ? content : undefined;
    if (quoted.charAt(index) === "\\") index += 1;
    content += quoted.charAt(index);
  }
  return undefined;
}

function notInName(character: string): ErrorMessage {
  return withValues("{character} is not allowed in the name.", { character: describeCharacter(character) });
}

function octetsOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Names a character so that the caller can find it even if it is invisible. */
function describeCharacter(character: string): string {
  if (/[\n\r\u0085\u2028\u2029]/.test(character)) return "A line break";
  if (character === " ") return "A space";
  if (character === '"') return "A quotation mark";
  if (/[!-~]/.test(character)) return `"${character}"`;
  const codePoint = character.codePointAt(0) ?? 0;
  return `The character U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}

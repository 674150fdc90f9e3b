// Formats the header fields of a message: neutralized, encoded and folded (RFC 5322, RFC 2047).

/** One address with its display name in From, To, Cc or Reply-To. */
export interface Mailbox {
  /** Validated addr-spec with an A-label as domain. A non-ASCII local part needs SMTPUTF8. */
  address: string;
  /** Display name in any Unicode characters. */
  name?: string;
}

/** RFC 2047 section 2 allows 76 characters on a line with encoded words; RFC 5322 recommends at most 78 for every line. */
const LINE_LENGTH = 76;
/** RFC 5322 section 2.1.1: 998 characters per line, minus the space at the start of a folded line. */
const WORD_LENGTH_MAX = 997;
/** RFC 2047 section 2: an encoded word has at most 75 characters, 12 of them for `=?utf-8?B?` and `?=`. */
const ENCODED_WORD_LENGTH = 75;
const ENCODED_WORD_FRAME = 12;
/** Longer names are written as encoded words because those can be folded. */
const QUOTED_NAME_LENGTH = 60;
/** RFC 5321 section 4.5.3.1 allows 64 + 1 + 255 octets; even written as UTF-8 this stays below the line limit. */
const ADDRESS_LENGTH_MAX = 320;
const FIELD_NAME_LENGTH_MAX = 256;

const PRINTABLE = /^[\x21-\x7e]+$/;
const PRINTABLE_AND_SPACES = /^[\x20-\x7e]+$/;
const FIELD_NAME = /^[\x21-\x39\x3b-\x7e]+$/;
const MESSAGE_ID = /^[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/;
const ATOMS = /^[\w!#$%&'*+\-/=?^`{|}~]+( [\w!#$%&'*+\-/=?^`{|}~]+)*$/;
const DOT_ATOM = /^[^\s()<>[\]:;@\\,".]+(\.[^\s()<>[\]:;@\\,".]+)*$/;
const ATOMS_AND_DOTS = /^[^\s()<>[\]:;@\\,"]+$/;
const QUOTED_STRING = /^"([^"\\]|\\.)*"$/;
const DOMAIN = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/;

/**
 * Prevents a value from ending its field: replaces control characters (CR, LF, NUL, …) and line separators with spaces.
 * Every function here calls this for external text, so callers don't have to.
 */
export function neutralize(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/**
 * Writes `Name: word word…` with CRLF at the end, folded before a word that would exceed 76 characters.
 * Words are written unchanged: they contain no CR or LF and have at most 997 characters each.
 * @throws TypeError if `name` is not an RFC 5322 field name. This is a caller's bug because endpoints validate names.
 */
export function foldedField(name: string, words: readonly string[]): string {
  if (!FIELD_NAME.test(name) || name.length > FIELD_NAME_LENGTH_MAX) {
    throw new TypeError(`Not a header field name: ${JSON.stringify(name.slice(0, 80))}`);
  }
  let field = `${name}:`;
  let column = field.length;
  for (const word of words) {
    const fits = column + 1 + word.length <= LINE_LENGTH;
    field += fits ? ` ${word}` : `\r\n ${word}`;
    column = (fits ? column : 0) + 1 + word.length;
  }
  return `${field}\r\n`;
}

/**
 * Formats a free-text field (Subject) that decodes to exactly `value`, apart from neutralized characters.
 * Encodes only the range of words that are not plain ASCII, so `Müller <list.example>` keeps its second half readable.
 */
export function textField(name: string, value: string): string {
  const words = neutralize(value).split(" ");
  let first = words.findIndex(needsEncoding);
  if (first < 0) return foldedField(name, words);
  let last = words.findLastIndex(needsEncoding);
  // An empty word is a repeated space or a space at an edge, which survives folding only inside an encoded word.
  if (words[first] === "") first = Math.max(0, first - 1);
  if (words[last] === "") last = Math.min(words.length - 1, last + 1);
  const before = words.slice(0, first);
  const column = before.reduce((length, word) => length + 1 + word.length, name.length + 1);
  const encoded = encodedWords(words.slice(first, last + 1).join(" "), column);
  return foldedField(name, [...before, ...encoded, ...words.slice(last + 1)]);
}

/**
 * Formats a field with a value from the API (custom and list headers).
 * Shrinks runs of white space, which have no meaning in structured fields and would force an encoding those fields forbid.
 */
export function customField(name: string, value: string): string {
  const text = neutralize(value).replace(/ +/g, " ");
  return textField(name, text.replace(/^ | $/g, ""));
}

/** Returns `Name: mailbox, mailbox`; an empty list becomes the empty group of RFC 5322 appendix A.1.3. */
export function mailboxField(name: string, mailboxes: readonly Mailbox[]): string {
  if (mailboxes.length === 0) return foldedField(name, ["undisclosed-recipients:;"]);
  const last = mailboxes.length - 1;
  const words = mailboxes.flatMap((mailbox, index) => {
    const column = index === 0 ? name.length + 1 : LINE_LENGTH;
    const phrase = phraseWords(neutralize(mailbox.name ?? "").trim(), column);
    const address = addressSpecification(mailbox.address);
    const end = index === last ? "" : ",";
    return [...phrase, phrase.length === 0 ? `${address}${end}` : `<${address}>${end}`];
  });
  return foldedField(name, words);
}

/** Formats a date by RFC 5322 section 3.3, always in UTC: `Fri, 21 Nov 2025 03:27:00 +0000`. */
export function dateField(name: string, instant: Date): string {
  if (Number.isNaN(instant.getTime())) throw new TypeError("The message has no valid date");
  const second = Math.floor(instant.getTime() / 1_000);
  if (second !== lastDate.second) {
    lastDate.second = second;
    lastDate.words = instant.toUTCString().replace("GMT", "+0000").split(" ");
  }
  return foldedField(name, lastDate.words);
}

/** Cached because messages written together share the same few seconds. */
const lastDate = { second: Number.NaN, words: [] as string[] };

/**
 * Returns `Name: <id>` for Message-ID and Content-ID.
 * @throws TypeError if the id is empty or has spaces, angle brackets or non-printable characters. Changing the id would break references to
 * it.
 */
export function idField(name: string, id: string): string {
  if (!MESSAGE_ID.test(id)) throw new TypeError(`Not an id for ${name}: ${JSON.stringify(id.slice(0, 80))}`);
  return foldedField(name, [`<${id}>`]);
}

/**
 * Returns whether a word must be encoded. Readers would decode text that contains `=?`, the start of an encoded word (RFC 2047 section 2).
 */
function needsEncoding(word: string): boolean {
  return !PRINTABLE.test(word) || word.length > WORD_LENGTH_MAX || word.includes("=?");
}

/**
 * Returns base64 encoded words (RFC 2047), cut between characters.
 * The first word fills the rest of the line after `column`, or starts a new line if too little space is left.
 */
function encodedWords(text: string, column: number): string[] {
  const bytesMax = encodableBytes(ENCODED_WORD_LENGTH);
  const bytesLeft = encodableBytes(LINE_LENGTH - column - 1);
  // Below 12 bytes the frame is longer than its content.
  let room = bytesLeft < 12 ? bytesMax : Math.min(bytesLeft, bytesMax);
  const words: string[] = [];
  let chunk = "";
  for (const character of text) {
    room -= Buffer.byteLength(character);
    if (room < 0) {
      words.push(encodedWord(chunk));
      chunk = "";
      room = bytesMax - Buffer.byteLength(character);
    }
    chunk += character;
  }
  if (chunk !== "") words.push(encodedWord(chunk));
  return words;
}

/** Returns how many bytes an encoded word of this length carries. */
function encodableBytes(length: number): number {
  return Math.floor((length - ENCODED_WORD_FRAME) / 4) * 3;
}

function encodedWord(text: string): string {
  return `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
}

/** Writes a display name as atoms, one quoted string or encoded words, so that the name cannot break out of the phrase. */
function phraseWords(name: string, column: number): string[] {
  if (name === "") return [];
  const literal =
    name.length <= QUOTED_NAME_LENGTH && PRINTABLE_AND_SPACES.test(name) && !name.includes("=?");
  if (!literal) return encodedWords(name, column);
  return ATOMS.test(name) ? name.split(" ") : [`"${name.replace(/["\\]/g, "\\$&")}"`];
}

/**
 * Returns the address as written in a header.
 * Quotes a local part with dots that do not form a dot-atom (`a..b`, in use in Japan).
 * @throws TypeError if the address could end early or start another one. Callers validate addresses, and a changed address would be another
 * mailbox.
 */
function addressSpecification(address: string): string {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  if (
    at > 0 &&
    address.length <= ADDRESS_LENGTH_MAX &&
    DOMAIN.test(address.slice(at + 1)) &&
    !/\p{Cc}/u.test(local)
  ) {
    if (DOT_ATOM.test(local) || QUOTED_STRING.test(local)) return address;
    if (ATOMS_AND_DOTS.test(local)) return `"${local}"${address.slice(at)}`;
  }
  throw new TypeError(`Not an address: ${JSON.stringify(address.slice(0, ADDRESS_LENGTH_MAX))}`);
}

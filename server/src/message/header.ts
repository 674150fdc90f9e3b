// Header fields of a message as text: neutralised, encoded and folded (RFC 5322, RFC 2047), one function per kind.

/** One person in From, To, Cc or Reply-To. */
export interface Mailbox {
  /** Validated addr-spec; the domain is an A-label, the local part may hold non-ASCII (then it needs SMTPUTF8). */
  address: string;
  /** Display name as people read it, any Unicode. */
  name?: string;
}

/** RFC 2047 section 2 allows 76 characters on a line with encoded words; RFC 5322 recommends at most 78 for any. */
const LINE_LENGTH = 76;
/** RFC 5322 section 2.1.1: 998 characters on a line, one of which is the space that begins a folded line. */
const WORD_LENGTH_MAX = 997;
/** RFC 2047 section 2: an encoded word has at most 75 characters, 12 of them are `=?utf-8?B?` and `?=`. */
const ENCODED_WORD_LENGTH = 75;
const ENCODED_WORD_FRAME = 12;
/** Longer quoted names become encoded words, which can be folded. */
const QUOTED_NAME_LENGTH = 60;
/** RFC 5321 section 4.5.3.1 allows 64 + 1 + 255 octets; written as UTF-8 even this stays under the line limit. */
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
 * Takes the power to end a field out of a value: CR, LF, NUL and every other control character or line separator
 * becomes a space. Each text that comes from outside goes through here at the moment it becomes part of a header, so
 * no caller has to remember it.
 */
export function neutralise(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/**
 * Writes `Name: word word…` with CRLF at the end, folded before a word where the line would pass 76 characters.
 * Words are written as they are: they hold no CR or LF and at most 997 characters each.
 * @throws TypeError if `name` is not an RFC 5322 field name: a bug of the caller, names are checked at the door.
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
 * A field of free text (Subject): reads back exactly as `value`, but for neutralised characters. Only the stretch
 * of words that ASCII cannot carry is encoded, so `Müller <list.example>` keeps its second half readable.
 */
export function textField(name: string, value: string): string {
  const words = neutralise(value).split(" ");
  let first = words.findIndex(needsEncoding);
  if (first < 0) return foldedField(name, words);
  let last = words.findLastIndex(needsEncoding);
  // An empty word is a second space in a row, or one at an edge: only inside an encoded word does it survive folding.
  if (words[first] === "") first = Math.max(0, first - 1);
  if (words[last] === "") last = Math.min(words.length - 1, last + 1);
  const before = words.slice(0, first);
  const column = before.reduce((length, word) => length + 1 + word.length, name.length + 1);
  const encoded = encodedWords(words.slice(first, last + 1).join(" "), column);
  return foldedField(name, [...before, ...encoded, ...words.slice(last + 1)]);
}

/**
 * A field whose value the sender's caller wrote (custom and list headers). White space at the edges and in runs means
 * nothing in structured fields and would force encoding, which they do not allow: it shrinks to one space.
 */
export function givenField(name: string, value: string): string {
  const text = neutralise(value).replace(/ +/g, " ");
  return textField(name, text.replace(/^ | $/g, ""));
}

/** `Name: mailbox, mailbox`; an empty list is written as the empty group of RFC 5322 appendix A.1.3. */
export function mailboxField(name: string, mailboxes: readonly Mailbox[]): string {
  if (mailboxes.length === 0) return foldedField(name, ["undisclosed-recipients:;"]);
  const last = mailboxes.length - 1;
  const words = mailboxes.flatMap((mailbox, index) => {
    const column = index === 0 ? name.length + 1 : LINE_LENGTH;
    const phrase = phraseWords(neutralise(mailbox.name ?? "").trim(), column);
    const address = addressSpecification(mailbox.address);
    const end = index === last ? "" : ",";
    return [...phrase, phrase.length === 0 ? `${address}${end}` : `<${address}>${end}`];
  });
  return foldedField(name, words);
}

/** RFC 5322 section 3.3 date-time, always in UTC: `Fri, 21 Nov 2025 03:27:00 +0000`. */
export function dateField(name: string, instant: Date): string {
  if (Number.isNaN(instant.getTime())) throw new TypeError("The message has no valid date");
  const second = Math.floor(instant.getTime() / 1_000);
  if (second !== lastDate.second) {
    lastDate.second = second;
    lastDate.words = instant.toUTCString().replace("GMT", "+0000").split(" ");
  }
  return foldedField(name, lastDate.words);
}

/** Mails that are written together are of a few seconds. */
const lastDate = { second: Number.NaN, words: [] as string[] };

/**
 * `Name: <id>` for Message-ID and Content-ID.
 * @throws TypeError for an id that is empty, has spaces, angle brackets or anything outside printable ASCII: an id
 * that was changed to fit would no longer be the one that others refer to.
 */
export function idField(name: string, id: string): string {
  if (!MESSAGE_ID.test(id)) throw new TypeError(`Not an id for ${name}: ${JSON.stringify(id.slice(0, 80))}`);
  return foldedField(name, [`<${id}>`]);
}

/** `=?` begins an encoded word (RFC 2047 section 2), so text that holds it would be decoded by the reader. */
function needsEncoding(word: string): boolean {
  return !PRINTABLE.test(word) || word.length > WORD_LENGTH_MAX || word.includes("=?");
}

/**
 * RFC 2047 encoded words in base64, cut between characters. The first one fills what `column` leaves of the line,
 * or takes a line of its own where that is too little.
 */
function encodedWords(text: string, column: number): string[] {
  const bytesMax = encodableBytes(ENCODED_WORD_LENGTH);
  const bytesLeft = encodableBytes(LINE_LENGTH - column - 1);
  // Under 12 bytes the frame is longer than what it carries.
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

/** How many bytes an encoded word of this length carries. */
function encodableBytes(length: number): number {
  return Math.floor((length - ENCODED_WORD_FRAME) / 4) * 3;
}

function encodedWord(text: string): string {
  return `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
}

/** A display name as atoms, as one quoted string, or as encoded words; no form lets it leave the phrase. */
function phraseWords(name: string, column: number): string[] {
  if (name === "") return [];
  const literal =
    name.length <= QUOTED_NAME_LENGTH && PRINTABLE_AND_SPACES.test(name) && !name.includes("=?");
  if (!literal) return encodedWords(name, column);
  return ATOMS.test(name) ? name.split(" ") : [`"${name.replace(/["\\]/g, "\\$&")}"`];
}

/**
 * The address as it stands in a header. A local part with dots where a dot-atom has none (`a..b`, in use in Japan) is
 * quoted. Anything that could end the address or begin another is a bug of the caller, who validated it: a changed
 * address would be another mailbox.
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

// Signs a finished message so that receivers can prove who sent it and that nothing changed (RFC 6376, 8301, 8463).
import type { KeyObject } from "node:crypto";
import { hash, sign } from "node:crypto";
import { foldedField } from "./header.ts";
import { prepend, type Message } from "./message.ts";

/** The key of a sender domain. Kept as a KeyObject: parsing PEM costs three times as much as the signature. */
export interface DkimKey {
  /** The `d=` tag, an A-label; aligned with the From domain by the caller. */
  domain: string;
  /** The public key is published at `<selector>._domainkey.<domain>`. */
  selector: string;
  /** RSA (2048 bits is right, under 1024 is refused) or Ed25519. */
  privateKey: KeyObject;
}

/** The message could not be signed and must not be sent. The text names domain and selector, never the key. */
export class DkimSigningError extends Error {
  override name = "DkimSigningError";
}

/** What is signed when present: who, to whom, what, how the body is read, and all that mailbox providers act on. */
const SIGNED_FIELDS = [
  "from",
  "to",
  "cc",
  "reply-to",
  "sender",
  "subject",
  "date",
  "message-id",
  "in-reply-to",
  "references",
  "mime-version",
  "content-type",
  "content-transfer-encoding",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "list-id",
  "feedback-id",
  "auto-submitted",
  "precedence",
];

const SIGNED: ReadonlySet<string> = new Set(SIGNED_FIELDS);

/**
 * Signed as absent where they are absent (RFC 6376 section 5.4.2): whoever adds one would say where answers go, or where
 * somebody leaves the list, under our signature (section 8.15).
 */
const SIGNED_AS_ABSENT: ReadonlySet<string> = new Set([
  "cc",
  "reply-to",
  "sender",
  "list-unsubscribe",
  "list-unsubscribe-post",
]);

/** RFC 8301 section 3.2: signers must not use shorter keys, verifiers must not accept them. */
const RSA_BITS_MIN = 1024;
const DOMAIN = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
const SELECTOR = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const FIELD_NAME = /^[\x21-\x39\x3b-\x7e]+$/;

/**
 * Returns the message with a DKIM-Signature of each key before it: sha256, relaxed/relaxed, the whole body. The same message
 * and keys give the same bytes again (RSA and Ed25519 signatures hold nothing random, no time is written).
 * @param message CRLF line ends, exactly one From. Its room is used up.
 * @param uncovered fields (lower case) that somebody on the way is known to replace.
 * @throws DkimSigningError if there is any doubt that the result verifies; there is no unsigned answer.
 */
export async function signMessage(
  message: Message,
  keys: readonly [DkimKey, ...DkimKey[]],
  uncovered: readonly string[] = [],
): Promise<Buffer> {
  const [key] = keys;
  const headerEnd = message.bytes.indexOf("\r\n\r\n");
  if (headerEnd < 0) throw signingError(key, "the message has no end of header");
  const fields = canonicalFields(message.bytes.toString("latin1", 0, headerEnd), key);
  if (fields.get("from")?.length !== 1) throw signingError(key, "the message must have exactly one From");
  const covered = coveredFields(fields, uncovered);
  const signatures = await Promise.all(keys.map((one) => signatureField(covered, message.bodySha256, one)));
  return prepend(signatures.join(""), message).bytes;
}

interface CoveredFields {
  /** As the `h=` tag lists them. */
  names: readonly string[];
  /** Their lines, in that order. */
  data: string;
}

function coveredFields(
  fields: ReadonlyMap<string, readonly string[]>,
  uncovered: readonly string[],
): CoveredFields {
  const names: string[] = [];
  let data = "";
  for (const name of SIGNED_FIELDS) {
    if (name !== "from" && uncovered.includes(name)) continue;
    const present = fields.get(name) ?? (SIGNED_AS_ABSENT.has(name) ? [] : undefined);
    if (present === undefined) continue;
    // Each name once more than the field is there: a second one added on the way breaks the signature (section 5.4.2).
    for (const line of present) {
      data += line;
      names.push(name);
    }
    names.push(name);
  }
  return { names, data };
}

async function signatureField(
  { names, data }: CoveredFields,
  bodySha256: string,
  key: DkimKey,
): Promise<string> {
  const algorithm = signingAlgorithm(key);
  const tags = [
    "v=1;",
    `a=${algorithm}-sha256;`,
    "c=relaxed/relaxed;",
    `d=${key.domain};`,
    `s=${key.selector};`,
  ];
  tags.push(...chunks(`h=${names.join(":")};`, /.{1,70}(?:[:;])/g), `bh=${bodySha256};`);
  // Folding happens between these words only, and relaxed canonicalization turns a fold into one space.
  const signed = `${data}dkim-signature:${tags.join(" ")} b=`;
  const signature = await signatureOf(Buffer.from(signed, "latin1"), key, algorithm);
  return foldedField("DKIM-Signature", [...tags, ...chunks(`b=${signature}`, /.{1,72}/g)]);
}

/** Checks all of the key that would end in a signature nobody accepts. */
function signingAlgorithm(key: DkimKey): "rsa" | "ed25519" {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key.privateKey;
  if (!DOMAIN.test(key.domain) || !SELECTOR.test(key.selector)) {
    throw signingError(key, "domain or selector is not a DNS name");
  }
  if (type !== "rsa" && type !== "ed25519") throw signingError(key, "the key is neither RSA nor Ed25519");
  if (type === "rsa" && (details?.modulusLength ?? 0) < RSA_BITS_MIN) {
    throw signingError(key, `the RSA key is shorter than ${RSA_BITS_MIN} bits`);
  }
  return type;
}

/**
 * Signed fields by lower-case name in relaxed form (RFC 6376 section 3.4.2), the last in the message first, as
 * section 5.4.2 takes them. `header` holds bytes as characters, so `\s` and trim(), which know more than space
 * and tab, would damage UTF-8. It is gone through once for each mail, so it stops for a pattern only where one is needed.
 */
function canonicalFields(header: string, key: DkimKey): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const field of header.replace(/\r\n(?=[ \t])/g, "").split("\r\n")) {
    if (field.includes("\r") || field.includes("\n"))
      throw signingError(key, "a line of the header has a bare CR or LF");
    const colon = field.indexOf(":");
    const name = withoutSpaceAtEnd(field.slice(0, colon)).toLowerCase();
    if (colon < 0 || !FIELD_NAME.test(name)) throw signingError(key, "a line of the header is no field");
    if (!SIGNED.has(name)) continue;
    let value = field.slice(colon + 1);
    if (value.includes("\t") || value.includes("  ")) value = value.replace(/[ \t]+/g, " ");
    const line = `${name}:${withoutSpaceAtEnd(value.startsWith(" ") ? value.slice(1) : value)}\r\n`;
    const lines = fields.get(name);
    if (lines === undefined) fields.set(name, [line]);
    else lines.unshift(line);
  }
  return fields;
}

function withoutSpaceAtEnd(text: string): string {
  return text.endsWith(" ") || text.endsWith("\t") ? text.replace(/[ \t]+$/, "") : text;
}

/** Signs in the thread pool, so messages are signed on every core while the next ones are built. */
async function signatureOf(data: Buffer, key: DkimKey, algorithm: "rsa" | "ed25519"): Promise<string> {
  // RFC 8463 section 3: Ed25519 signs the SHA-256 of the data, RSA hashes it itself.
  const [digest, input] = algorithm === "rsa" ? ["sha256", data] : [null, hash("sha256", data, "buffer")];
  try {
    const signature = await new Promise<Buffer>((resolve, reject) => {
      sign(digest, input, key.privateKey, (error, bytes) =>
        error === null ? resolve(bytes) : reject(error),
      );
    });
    return signature.toString("base64");
  } catch (cause) {
    throw signingError(key, "the signature could not be made", cause);
  }
}

function chunks(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [];
}

function signingError(key: DkimKey, reason: string, cause?: unknown): DkimSigningError {
  const name = `${key.selector}._domainkey.${key.domain}`;
  return new DkimSigningError(`The message was not signed for ${JSON.stringify(name)}: ${reason}`, { cause });
}

// Signs a finished message with DKIM (RFC 6376, 8301, 8463).
import type { KeyObject } from "node:crypto";
import { hash, sign } from "node:crypto";
import { foldedField } from "./header.ts";
import { prepend, type Message } from "./message.ts";

/** The DKIM key of a sender domain. Kept as a KeyObject because parsing PEM costs three times as much as signing. */
export interface DkimKey {
  /** The `d=` tag, an A-label. The caller aligns this domain with the From domain. */
  domain: string;
  /** The public key is published at `<selector>._domainkey.<domain>`. */
  selector: string;
  /** RSA (2048 bits recommended, under 1024 rejected) or Ed25519. */
  privateKey: KeyObject;
}

/** Thrown when a message could not be signed and must not be sent. The text has the domain and selector, never the key. */
export class DkimSigningError extends Error {
  override name = "DkimSigningError";
}

/** Fields signed when present: addresses, subject, content headers and all fields that mailbox providers act on. */
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
 * Fields signed as absent if they are missing (RFC 6376 section 5.4.2).
 * Otherwise a relay could add a reply address or an unsubscribe link under our signature (section 8.15).
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
 * Returns the message preceded by one DKIM-Signature per key: sha256, relaxed/relaxed, the whole body.
 * The same message and keys produce the same bytes because neither signature type uses randomness and no time is written.
 * @param message CRLF line ends, exactly one From. Its room for the header is used up.
 * @param uncovered fields (lower case) that a relay is known to replace.
 * @throws DkimSigningError if the result might not verify; an unsigned message is never returned.
 */
export async function signMessage(
  message: Message,
  keys: readonly [DkimKey, ...DkimKey[]],
  uncovered: readonly string[] = [],
): Promise<Buffer> {
  const [key] = keys;
  const headerEnd = message.bytes.indexOf("\r\n\r\n");
  if (headerEnd < 0) throw signingError(key, "the message header has no end");
  const fields = canonicalFields(message.bytes.toString("latin1", 0, headerEnd), key);
  if (fields.get("from")?.length !== 1) throw signingError(key, "the message must have exactly one From");
  const covered = coveredFields(fields, uncovered);
  const signatures = await Promise.all(keys.map((one) => signatureField(covered, message.bodySha256, one)));
  return prepend(signatures.join(""), message).bytes;
}

interface CoveredFields {
  /** In the order of the `h=` tag. */
  names: readonly string[];
  /** The lines of these fields in the same order. */
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
    // Lists each name once more than the field occurs, so that adding another one on the way breaks the signature (section 5.4.2).
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
  // Folds occur only between these words, and relaxed canonicalization turns a fold into one space.
  const signed = `${data}dkim-signature:${tags.join(" ")} b=`;
  const signature = await signatureOf(Buffer.from(signed, "latin1"), key, algorithm);
  return foldedField("DKIM-Signature", [...tags, ...chunks(`b=${signature}`, /.{1,72}/g)]);
}

/** Checks everything about the key that would lead to a signature receivers reject. */
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
 * Returns signed fields by lower-case name in relaxed form (RFC 6376 section 3.4.2), last occurrence first (section 5.4.2).
 * `header` has bytes as characters, so `\s` and trim() would damage UTF-8 because they match more than space and tab.
 * This runs for every email, so it uses a pattern only where one is needed.
 */
function canonicalFields(header: string, key: DkimKey): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const field of header.replace(/\r\n(?=[ \t])/g, "").split("\r\n")) {
    if (field.includes("\r") || field.includes("\n"))
      throw signingError(key, "a header line has a bare CR or LF");
    const colon = field.indexOf(":");
    const name = withoutSpaceAtEnd(field.slice(0, colon)).toLowerCase();
    if (colon < 0 || !FIELD_NAME.test(name)) throw signingError(key, "a header line is not a field");
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

/** Signs in the thread pool, so that all cores sign while the next messages are built. */
async function signatureOf(data: Buffer, key: DkimKey, algorithm: "rsa" | "ed25519"): Promise<string> {
  // RFC 8463 section 3: Ed25519 signs the SHA-256 of the data, while RSA hashes the data itself.
  const [digest, input] = algorithm === "rsa" ? ["sha256", data] : [null, hash("sha256", data, "buffer")];
  try {
    const signature = await new Promise<Buffer>((resolve, reject) => {
      sign(digest, input, key.privateKey, (error, bytes) =>
        error === null ? resolve(bytes) : reject(error),
      );
    });
    return signature.toString("base64");
  } catch (cause) {
    throw signingError(key, "signing failed", cause);
  }
}

function chunks(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [];
}

function signingError(key: DkimKey, reason: string, cause?: unknown): DkimSigningError {
  const name = `${key.selector}._domainkey.${key.domain}`;
  return new DkimSigningError(`The message was not signed for ${JSON.stringify(name)}: ${reason}`, { cause });
}

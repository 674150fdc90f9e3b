// Creates random texts and lookup hashes, and encrypts secrets with the application secret (AES-256-GCM).
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Returns random letters and digits that cannot be guessed. */
export function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Returns whether two secrets are equal, in a time that depends neither on their difference nor on their length. */
export function isSameSecret(input: string, expected: string): boolean {
  return timingSafeEqual(sha256(input), sha256(expected));
}

/**
 * Returns a separate key for each purpose, so that two uses of the application secret cannot be mixed up. Returns a KeyObject because an
 * HMAC with raw bytes takes five times as long.
 */
export function deriveKey(applicationSecret: string, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", applicationSecret, "postloft", purpose, 32)));
}

export interface Sealer {
  /** Encrypts and authenticates a text. `context` (a row's id) must be the same when opening. */
  seal(plain: string, context: string): Buffer;
  /** @throws if the bytes were changed, or sealed with another secret or for another context */
  open(sealed: Buffer, context: string): string;
  /** Returns 32 bytes that are always the same for a text and unpredictable without the secret. */
  mac(text: string): Buffer;
}

export function createSealer(applicationSecret: string): Sealer {
  const key = deriveKey(applicationSecret, "seal");
  const macKey = deriveKey(applicationSecret, "mac");
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      const body = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
    },
    mac: (text) => createHmac("sha256", macKey).update(text).digest(),
  };
}

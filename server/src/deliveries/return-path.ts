// Gives each email a separate, unforgeable envelope sender, so that bounces identify their email (VERP).
import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey } from "../platform/crypto.ts";
import { isId } from "../platform/ids.ts";
import type { Transport } from "../transports/transport.ts";

/** The email that an address identifies. */
export interface ReturnedTo {
  projectId: string;
  emailId: string;
}

export interface ReturnPaths {
  /** Returns the local part for an email, at most 64 octets. Null for ids that are not UUIDv7. */
  localPartOf(projectId: string, emailId: string): string | null;
  /** Returns the email that a local part identifies, or null if we did not create it. */
  read(localPart: string): ReturnedTo | null;
  /** Unguessable local part where complaints without other proof are trusted. */
  readonly feedbackName: string;
}

const PREFIX = "b+";
const KEY_PURPOSE = "return-paths";
const FEEDBACK_PREFIX = "fbl-";
/** 16 characters in base32, short enough to type into a feedback loop's form. */
const FEEDBACK_SECRET_BYTES = 10;
/** RFC 4648 §6 in lower case, because mail servers may change the case of a local part. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const BITS = 5;
/** Two UUIDv7 without dashes and version digits. */
const ID_BYTES = 31;
/** The most that fits into 64 octets. Guessing takes one message per attempt. */
const MAC_BYTES = 7;
const TOKEN = /^[a-z2-7]{61}$/;

export function createReturnPaths(applicationSecret: string): ReturnPaths {
  const key = deriveKey(applicationSecret, KEY_PURPOSE);
  const macOf = (ids: Buffer) => createHmac("sha256", key).update(ids).digest().subarray(0, MAC_BYTES);
  const feedbackSecret = createHmac("sha256", key)
    .update("feedback")
    .digest()
    .subarray(0, FEEDBACK_SECRET_BYTES);
  return {
    feedbackName: FEEDBACK_PREFIX + toBase32(feedbackSecret),
    localPartOf(projectId, emailId) {
      if (![projectId, emailId].every((id) => isId(id) && id[14] === "7")) return null;
      const ids = Buffer.from(shorten(projectId) + shorten(emailId), "hex");
      return PREFIX + toBase32(Buffer.concat([ids, macOf(ids)]));
    },
    read(localPart) {
      const lower = localPart.toLowerCase();
      const token = lower.slice(PREFIX.length);
      if (!lower.startsWith(PREFIX) || !TOKEN.test(token)) return null;
      const bytes = fromBase32(token);
      const ids = bytes.subarray(0, ID_BYTES);
      if (!timingSafeEqual(macOf(ids), bytes.subarray(ID_BYTES))) return null;
      const digits = ids.toString("hex");
      return { projectId: lengthen(digits.slice(0, ID_BYTES)), emailId: lengthen(digits.slice(ID_BYTES)) };
    },
  };
}

/** Returns whether a local part has the form of our return paths, valid or not. */
export function isReturnPath(localPart: string): boolean {
  return localPart.toLowerCase().startsWith(PREFIX);
}

function shorten(id: string): string {
  const digits = id.toLowerCase().replaceAll("-", "");
  return digits.slice(0, 12) + digits.slice(13);
}

function lengthen(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(12, 15)}-${digits.slice(15, 19)}-${digits.slice(19)}`;
}

function toBase32(bytes: Buffer): string {
  let text = "";
  for (let bit = 0; bit < bytes.length * 8; bit += BITS) {
    const at = bit >> 3;
    const pair = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    text += ALPHABET[(pair >> (16 - BITS - (bit & 7))) & 31];
  }
  return text;
}

function fromBase32(text: string): Buffer {
  const bytes = Buffer.alloc(Math.floor((text.length * BITS) / 8));
  let held = 0;
  let heldBits = 0;
  let at = 0;
  for (const character of text) {
    held = ((held << BITS) | ALPHABET.indexOf(character)) & 0xfff;
    heldBits += BITS;
    if (heldBits < 8) continue;
    heldBits -= 8;
    bytes[at++] = (held >> heldBits) & 0xff;
  }
  return bytes;
}

/** Returns the return path of an email, or null for transports that report bounces in notices instead. */
export function createReturnPathOf({
  returnPaths,
  bounceDomain,
}: {
  returnPaths: ReturnPaths;
  bounceDomain: string | null;
}) {
  return (
    projectId: string,
    emailId: string,
    transport: Pick<Transport, "takesReturnPath">,
  ): string | null => {
    if (transport.takesReturnPath !== true || bounceDomain === null) return null;
    const localPart = returnPaths.localPartOf(projectId, emailId);
    return localPart === null ? null : `${localPart}@${bounceDomain}`;
  };
}

// Creates and reads the tokens in links and pixels. 42 bytes (project, email and an 80-bit MAC) are short enough for spam filters and
// reveal nothing about the recipient.
import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey } from "../../platform/crypto.ts";
import { isFixedLink, NUMBER_RADIX, signTarget, type MailTracking } from "../../rendering/link-target.ts";

const KEY_PURPOSE = "tracking";
const IDS_BYTES = 32;
const MAC_BYTES = 10;
const PIXEL = /^([\w-]{56})(?:\.gif)?$/;
/** A link's number, followed by the signature of its target if it has variables. */
const LINK = /^([\w-]{56})([0-9a-z]{1,6})(?:\.([\w-]{12}))?$/;

export interface MailKey {
  projectId: string;
  emailId: string;
}

export interface MailLink extends MailKey {
  number: number;
  /** The target, proven to be from the email; null if the template has it. */
  signedTarget: string | null;
}

export interface MailTokens {
  trackingOf(projectId: string, emailId: string): MailTracking;
  /** Returns the email of a pixel, or null for a forged token. */
  readPixel(token: string): MailKey | null;
  /** Returns the email and link of a token, or null if the token or target is forged. */
  readLink(token: string, target: unknown): MailLink | null;
}

export function createMailTokens(
  applicationSecret: string,
  originOf: (projectId: string) => string,
): MailTokens {
  const key = deriveKey(applicationSecret, KEY_PURPOSE);
  /** One HMAC per email. Its first bytes are the token's MAC, the others the key that signs link targets. */
  function secretsOf(ids: Buffer) {
    const mac = createHmac("sha256", key).update(ids).digest();
    return { mac: mac.subarray(0, MAC_BYTES), linkKey: mac.subarray(MAC_BYTES).toString("base64url") };
  }

  function read(token: string): (MailKey & { linkKey: string }) | null {
    const bytes = Buffer.from(token, "base64url");
    const ids = bytes.subarray(0, IDS_BYTES);
    const { mac, linkKey } = secretsOf(ids);
    if (!timingSafeEqual(mac, bytes.subarray(IDS_BYTES))) return null;
    return { projectId: idOf(ids.subarray(0, 16)), emailId: idOf(ids.subarray(16)), linkKey };
  }

  return {
    trackingOf(projectId, emailId) {
      const ids = Buffer.from((projectId + emailId).replaceAll("-", ""), "hex");
      const { mac, linkKey } = secretsOf(ids);
      const token = Buffer.concat([ids, mac]).toString("base64url");
      const base = originOf(projectId);
      return { clickUrl: `${base}/c/${token}`, pixelUrl: `${base}/o/${token}.gif`, linkKey };
    },
    readPixel(token) {
      const [, mail] = PIXEL.exec(token) ?? [];
      const found = mail === undefined ? null : read(mail);
      return found === null ? null : { projectId: found.projectId, emailId: found.emailId };
    },
    readLink(token, target) {
      const [, mail, digits = "", signature] = LINK.exec(token) ?? [];
      const found = mail === undefined ? null : read(mail);
      const number = Number.parseInt(digits, NUMBER_RADIX);
      if (found === null || number.toString(NUMBER_RADIX) !== digits) return null;
      const { projectId, emailId, linkKey } = found;
      if (signature === undefined)
        return isFixedLink(number) ? { projectId, emailId, number, signedTarget: null } : null;
      if (typeof target !== "string") return null;
      const expected = Buffer.from(signTarget(linkKey, number, target));
      if (!timingSafeEqual(expected, Buffer.from(signature))) return null;
      return { projectId, emailId, number, signedTarget: target };
    },
  };
}

function idOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

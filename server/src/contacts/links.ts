// Signed links of each recipient to unsubscribe, subscribe and manage the subscription. The signature prevents guessing and tampering.
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual, type KeyObject } from "node:crypto";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { deriveKey } from "../platform/crypto.ts";
import { NO_ONE } from "../platform/ids.ts";

const MAC_BYTES = 16;
const ID_BYTES = 16;
const FIXED_BYTES = 2 * ID_BYTES + MAC_BYTES;
/** UTF-8 takes up to three bytes for a character of the basic plane. */
const MAX_BYTES = FIXED_BYTES + 3 * LIMITS.addressLength.value;
/** The form of base64url. No other text is decoded. */
const TOKEN = /^[A-Za-z0-9_-]{64,}$/;

export const LINK_PURPOSES = ["unsubscribe", "subscribe", "manage"] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

export interface ContactLinks {
  unsubscribeUrl: string;
  subscribeUrl: string;
  manageUrl: string;
}

/** The canonical address that links act on, and the email that contains the links, or null. */
export interface LinkedAddress {
  address: string;
  emailId: string | null;
}

/**
 * Returns a function that makes the links of a recipient. Links with an address act on the current contact with that address. Links without
 * one act on a contact id. Previews use them with the id `NOBODY`, and emails from before this version contain them.
 * A token holds the project, the email, a 128-bit MAC and the encrypted address. The MAC covers the purpose, both ids and the address, and
 * is also the IV of the encryption (a synthetic IV). So an email always gets the same links. A token without an address holds the contact
 * instead of the email.
 */
export function createContactLinks(
  applicationSecret: string,
  originOf: (projectId: string) => string,
): LinkParts["linksOf"] {
  const keys = keysOf(applicationSecret);
  return (projectId, contactId, to) => {
    const second = to === undefined ? contactId : (to.emailId ?? NO_ONE);
    const ids = Buffer.from((projectId + second).replaceAll("-", ""), "hex");
    const address = Buffer.from(to?.address ?? "");
    const [unsubscribeUrl = "", subscribeUrl = "", manageUrl = ""] = LINK_PURPOSES.map((purpose) => {
      const mac = macOf(keys.mac, purpose, ids, address);
      const token = Buffer.concat([ids, mac, encrypt(keys.address, mac, address)]).toString("base64url");
      return `${originOf(projectId)}/${purpose}/${token}`;
    });
    return { unsubscribeUrl, subscribeUrl, manageUrl };
  };
}

/** Makes links and reads them back. */
export interface LinkParts {
  linksOf: (projectId: string, contactId: string, to?: LinkedAddress) => ContactLinks;
  readLink: (purpose: LinkPurpose, token: string) => LinkedRecipient | null;
}

/** The target of a link, which is an address, or a contact in links without an address. */
export type LinkedRecipient = { projectId: string } & (
  | { contactId: string; to: undefined }
  | { contactId: null; to: LinkedAddress }
);

/** Returns a function that reads the last part of a link. It returns null for tokens that were not made here for this purpose. */
export function createLinkReader(applicationSecret: string): LinkParts["readLink"] {
  const keys = keysOf(applicationSecret);
  return (purpose, token) => {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token, "base64url");
    if (bytes.length > MAX_BYTES || bytes.toString("base64url") !== token) return null;
    const ids = bytes.subarray(0, 2 * ID_BYTES);
    const mac = bytes.subarray(2 * ID_BYTES, FIXED_BYTES);
    const address = decrypt(keys.address, mac, bytes.subarray(FIXED_BYTES));
    if (!timingSafeEqual(macOf(keys.mac, purpose, ids, address), mac)) return null;
    const projectId = idOf(ids.subarray(0, ID_BYTES));
    const second = idOf(ids.subarray(ID_BYTES));
    if (address.length === 0) return { projectId, contactId: second, to: undefined };
    const emailId = second === NO_ONE ? null : second;
    return { projectId, contactId: null, to: { address: address.toString("utf8"), emailId } };
  };
}

interface Keys {
  mac: KeyObject;
  address: KeyObject;
}

function keysOf(applicationSecret: string): Keys {
  return {
    mac: deriveKey(applicationSecret, "contact-links"),
    address: deriveKey(applicationSecret, "contact-link-addresses"),
  };
}

/** Without an address the MAC equals the one of older links that named contacts, so that those links stay valid. */
function macOf(key: KeyObject, purpose: LinkPurpose, ids: Buffer, address: Buffer): Buffer {
  return createHmac("sha256", key)
    .update(purpose)
    .update(ids)
    .update(address)
    .digest()
    .subarray(0, MAC_BYTES);
}

const CIPHER = "aes-256-ctr";

function encrypt(key: KeyObject, mac: Buffer, address: Buffer): Buffer {
  return address.length === 0 ? address : createCipheriv(CIPHER, key, mac).update(address);
}

function decrypt(key: KeyObject, mac: Buffer, encrypted: Buffer): Buffer {
  return encrypted.length === 0 ? encrypted : createDecipheriv(CIPHER, key, mac).update(encrypted);
}

function idOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// The three addresses each recipient gets: unsubscribe, subscribe, manage. Signed, so that they can be neither guessed nor changed.
// Before it: the application secret. After it: emails/ puts them into mails as variables; pages/ reads them back.
import { createHmac, timingSafeEqual, type KeyObject } from "node:crypto";
import { deriveKey } from "../platform/crypto.ts";

const MAC_BYTES = 16;
const ID_BYTES = 16;
/** As base64url writes the ids and the MAC; nothing else is even decoded. */
const TOKEN = /^[A-Za-z0-9_-]{64}$/;

export const LINK_PURPOSES = ["unsubscribe", "subscribe", "manage"] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

export interface ContactLinks {
  unsubscribeUrl: string;
  subscribeUrl: string;
  manageUrl: string;
}

/** Makes the links of contacts: `<base>/<purpose>/<project, contact and a 128-bit MAC over purpose and both>`. */
export function createContactLinks(
  applicationSecret: string,
  baseUrl: () => string,
): (projectId: string, contactId: string) => ContactLinks {
  const key = deriveKey(applicationSecret, KEY_PURPOSE);
  return (projectId, contactId) => {
    const ids = Buffer.from((projectId + contactId).replaceAll("-", ""), "hex");
    const [unsubscribeUrl = "", subscribeUrl = "", manageUrl = ""] = LINK_PURPOSES.map((purpose) => {
      const token = Buffer.concat([ids, macOf(key, purpose, ids)]).toString("base64url");
      return `${baseUrl()}/${purpose}/${token}`;
    });
    return { unsubscribeUrl, subscribeUrl, manageUrl };
  };
}

export interface LinkedContact {
  projectId: string;
  contactId: string;
}

/** Reads the last part of a link back: whom it names, or null when it was not made here for this purpose. */
export function createLinkReader(
  applicationSecret: string,
): (purpose: LinkPurpose, token: string) => LinkedContact | null {
  const key = deriveKey(applicationSecret, KEY_PURPOSE);
  return (purpose, token) => {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token, "base64url");
    const ids = bytes.subarray(0, 2 * ID_BYTES);
    if (!timingSafeEqual(macOf(key, purpose, ids), bytes.subarray(2 * ID_BYTES))) return null;
    return { projectId: idOf(ids.subarray(0, ID_BYTES)), contactId: idOf(ids.subarray(ID_BYTES)) };
  };
}

const KEY_PURPOSE = "contact-links";

function macOf(key: KeyObject, purpose: LinkPurpose, ids: Buffer): Buffer {
  return createHmac("sha256", key).update(purpose).update(ids).digest().subarray(0, MAC_BYTES);
}

function idOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

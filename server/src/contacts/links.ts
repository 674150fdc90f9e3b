// The three addresses each recipient gets: unsubscribe, subscribe, manage. Signed, so that they can be neither guessed nor changed.
// Before it: the application secret. After it: emails/ puts them into mails as variables.
import { createHmac } from "node:crypto";
import { deriveKey } from "../platform/crypto.ts";

const MAC_BYTES = 16;
const PURPOSES = ["unsubscribe", "subscribe", "manage"] as const;

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
  const key = deriveKey(applicationSecret, "contact-links");
  return (projectId, contactId) => {
    const ids = Buffer.from((projectId + contactId).replaceAll("-", ""), "hex");
    const [unsubscribeUrl = "", subscribeUrl = "", manageUrl = ""] = PURPOSES.map((purpose) => {
      const mac = createHmac("sha256", key).update(purpose).update(ids).digest().subarray(0, MAC_BYTES);
      return `${baseUrl()}/${purpose}/${Buffer.concat([ids, mac]).toString("base64url")}`;
    });
    return { unsubscribeUrl, subscribeUrl, manageUrl };
  };
}

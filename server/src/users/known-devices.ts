// Remembers the accounts that have signed in from a browser, in a sealed cookie. A known browser has a separate guess budget, and its
// sign-ins send no notification. The cookie grants no access.
import { parseCookie } from "cookie";
import type { IncomingHttpHeaders } from "node:http";
import type { Sealer } from "../platform/crypto.ts";

const CONTEXT = "known devices";
/** Browsers keep a cookie for at most 400 days. */
const LIFETIME_SECONDS = 400 * 24 * 3600;
/** Per browser; the least recently used account is dropped first. */
const MAX_ACCOUNTS = 10;
const MAX_COOKIE_LENGTH = 2_000;

export interface KnownDevices {
  /** Returns the ids of the accounts that have signed in here. */
  read(headers: Pick<IncomingHttpHeaders, "cookie">): string[];
  /** Returns the Set-Cookie header that adds an account. */
  write(known: readonly string[], userId: string): string;
}

export function createKnownDevices(sealer: Sealer, secure: boolean): KnownDevices {
  const name = secure ? "__Host-postloft_devices" : "postloft_devices";
  return {
    read({ cookie = "" }) {
      const value = parseCookie(cookie)[name];
      if (value === undefined || value.length > MAX_COOKIE_LENGTH) return [];
      try {
        // Only this program seals, so a value that opens has the shape it wrote.
        return JSON.parse(sealer.open(Buffer.from(value, "base64url"), CONTEXT)) as string[];
      } catch {
        return [];
      }
    },
    write(known, userId) {
      const ids = [userId, ...known.filter((id) => id !== userId)].slice(0, MAX_ACCOUNTS);
      const value = sealer.seal(JSON.stringify(ids), CONTEXT).toString("base64url");
      const attributes = `Max-Age=${LIFETIME_SECONDS}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
      return `${name}=${value}; ${attributes}`;
    },
  };
}

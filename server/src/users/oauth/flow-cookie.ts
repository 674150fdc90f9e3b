// What the browser keeps between the way out to another service and the way back: sealed, so that nobody reads or makes one.
import { parseCookie } from "cookie";
import type { IncomingHttpHeaders } from "node:http";
import { nowMs } from "../../platform/clock.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Flow, Person, ProviderName } from "./providers.ts";

const LIFETIME_SECONDS = 600;
const MAX_COOKIE_LENGTH = 4_000;
const CONTEXT = "oauth flow";

/** Where the browser goes in the end, and through whom. */
interface Underway {
  provider: ProviderName;
  /** A path of the dashboard. */
  next: string;
}

export type Pending =
  /** Somebody was sent to a service. `userId`: who was logged in and wants to be connected. */
  | (Underway & { step: "provider"; flow: Flow; userId: string | null })
  /** The service said who it is; the second factor is asked for. */
  | (Underway & { step: "code"; person: Person });

export interface FlowCookie {
  /** The Set-Cookie header that keeps it. */
  write(pending: Pending): string;
  /** Null: there is none, it is too old, or not ours. */
  read(headers: IncomingHttpHeaders): Pending | null;
}

export function createFlowCookie(sealer: Sealer, baseUrl: () => string): FlowCookie {
  const isSecure = () => baseUrl().startsWith("https:");
  const nameOf = () => (isSecure() ? "__Host-postloft_oauth" : "postloft_oauth");
  return {
    write(pending) {
      const kept = { pending, until: nowMs() + LIFETIME_SECONDS * 1000 };
      const value = sealer.seal(JSON.stringify(kept), CONTEXT).toString("base64url");
      const secure = isSecure() ? "; Secure" : "";
      return `${nameOf()}=${value}; Max-Age=${LIFETIME_SECONDS}; Path=/; HttpOnly; SameSite=Lax${secure}`;
    },
    read({ cookie: cookies = "" }) {
      const value = parseCookie(cookies)[nameOf()];
      if (value === undefined || value.length > MAX_COOKIE_LENGTH) return null;
      try {
        const opened = sealer.open(Buffer.from(value, "base64url"), CONTEXT);
        // We wrote it: nothing else opens.
        const { pending, until } = JSON.parse(opened) as { pending: Pending; until: number };
        return until > nowMs() ? pending : null;
      } catch {
        return null;
      }
    },
  };
}

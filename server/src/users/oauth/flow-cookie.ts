// Keeps the state of an OAuth sign-in in a sealed cookie, which browsers can neither read nor forge.
import { parseCookie } from "cookie";
import type { IncomingHttpHeaders } from "node:http";
import { nowMs } from "../../platform/clock.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Flow, Person, ProviderName } from "./providers.ts";

const LIFETIME_SECONDS = 600;
const MAX_COOKIE_LENGTH = 4_000;
const CONTEXT = "oauth flow";

/** The provider and the page to open after signing in. */
interface PendingSignIn {
  provider: ProviderName;
  /** A path of the dashboard. */
  next: string;
}

export type Pending =
  /** The browser was sent to the service. `userId`: the signed-in user who wants to connect it. */
  | (PendingSignIn & { step: "provider"; flow: Flow; userId: string | null })
  /** The service identified the person; the second factor is still required. */
  | (PendingSignIn & { step: "code"; person: Person });

export interface FlowCookie {
  /** Returns the Set-Cookie header. */
  write(pending: Pending): string;
  /** Returns null if the cookie is missing, expired or forged. */
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
        // Only this program writes values that open.
        const { pending, until } = JSON.parse(opened) as { pending: Pending; until: number };
        return until > nowMs() ? pending : null;
      } catch {
        return null;
      }
    },
  };
}

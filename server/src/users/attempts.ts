// What is counted of whoever is not logged in: all that one network asks about accounts, whichever way.
// Before it: routes.ts, account-routes.ts, projects/members/routes.ts. After it: platform/rate-limit.ts.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Take } from "../platform/rate-limit.ts";

const WINDOW_SECONDS = 60;
const CODES_SECONDS = 600;

/** @param network as `networkOf` names it */
export function attemptsOf(network: string): Take {
  return { bucket: `auth:${network}`, limit: LIMITS.authRequests.value, windowSeconds: WINDOW_SECONDS };
}

/** Wrong codes of one account, wherever they come from: whoever gives one has the password already. */
export function codesOf(userId: string): Take {
  return { bucket: `codes:${userId}`, limit: LIMITS.codeFailures.value, windowSeconds: CODES_SECONDS };
}

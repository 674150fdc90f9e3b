// What is counted: all that one network asks about accounts, whichever way; codes that are wrong; mails to one address.
// Before it: routes.ts, account-routes.ts, projects/members/routes.ts. After it: platform/rate-limit.ts.
import { LIMITS } from "@postloft/contract/limits.ts";
import { sha256 } from "../platform/crypto.ts";
import type { Take } from "../platform/rate-limit.ts";

const WINDOW_SECONDS = 60;
const CODES_SECONDS = 600;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** @param network as `networkOf` names it */
export function attemptsOf(network: string): Take {
  return { bucket: `auth:${network}`, limit: LIMITS.authRequests.value, windowSeconds: WINDOW_SECONDS };
}

/** Accounts that one network made: each mails a stranger, perhaps, and stays. */
export function signUpsOf(network: string): Take {
  return { bucket: `signups:${network}`, limit: LIMITS.signUps.value, windowSeconds: HOUR_SECONDS };
}

/** Sign-ups with one address, wherever they come from: each may mail it, and could be a guess at its password. */
export function signUpsAs(email: string): Take {
  return {
    bucket: `signups-as:${sha256(email).toString("base64url")}`,
    limit: LIMITS.signUpsAs.value,
    windowSeconds: DAY_SECONDS,
  };
}

/** Mails about accounts and invitations to one address, whoever asks for them. */
export function mailsTo(email: string): Take {
  return {
    bucket: `account-mails:${sha256(email).toString("base64url")}`,
    limit: LIMITS.accountMails.value,
    windowSeconds: HOUR_SECONDS,
  };
}

/** Wrong codes of one account, wherever they come from: whoever gives one has the password already. */
export function codesOf(userId: string): Take {
  return { bucket: `codes:${userId}`, limit: LIMITS.codeFailures.value, windowSeconds: CODES_SECONDS };
}

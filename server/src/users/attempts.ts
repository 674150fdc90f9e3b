// Rate limit buckets for account actions that are open to anyone.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { sha256 } from "../platform/crypto.ts";
import type { Take } from "../platform/http/rate-limit.ts";

const MINUTE_SECONDS = 60;
const GUESSES_SECONDS = 600;
const HOUR_SECONDS = 3600;

const digest = (text: string) => sha256(text).toString("base64url");

/**
 * Limits all account requests of a network.
 * @param network as `networkOf` names it
 */
export function attemptsOf(network: string): Take {
  return { bucket: `auth:${network}`, limit: LIMITS.authRequests.value, windowSeconds: MINUTE_SECONDS };
}

/** Limits the accounts that one network creates or requests a link for. */
export function signUpsOf(network: string): Take {
  return { bucket: `signups:${network}`, limit: LIMITS.signUps.value, windowSeconds: HOUR_SECONDS };
}

/**
 * Limits emails to one address requested by people who have not confirmed it. Over the limit, sign-up and reset respond as usual, and a
 * change of address, which needs a session, is rejected.
 */
export function requestedEmailsTo(email: string, purpose: "sign-up" | "reset" | "change"): Take {
  return {
    bucket: `requested-emails:${purpose}:${digest(email)}`,
    limit: LIMITS.requestedEmails.value,
    windowSeconds: HOUR_SECONDS,
  };
}

/** Limits account emails and invitations to one address that are requested in a session. */
export function mailsTo(email: string): Take {
  return {
    bucket: `account-mails:${digest(email)}`,
    limit: LIMITS.accountMails.value,
    windowSeconds: HOUR_SECONDS,
  };
}

/** Limits wrong passwords for an account across all networks. Attempts in a known browser count separately. */
export function guessesAt(account: string, isKnownDevice: boolean): Take {
  return {
    bucket: `guesses:${digest(account)}${isKnownDevice ? ":known" : ""}`,
    limit: LIMITS.loginFailures.value,
    windowSeconds: GUESSES_SECONDS,
  };
}

/** Limits wrong authenticator codes in the same way. Only a user with the password can try one. */
export function codesOf(userId: string, isKnownDevice = false): Take {
  return {
    bucket: `codes:${userId}${isKnownDevice ? ":known" : ""}`,
    limit: LIMITS.codeFailures.value,
    windowSeconds: GUESSES_SECONDS,
  };
}

// HTTP for what people do with their accounts: endpoint → verb → answer, as JSON and as pages behind links.
// Before it: routes.ts logs in. After it: account.ts.
import { setTimeout as delay } from "node:timers/promises";
import * as pages from "@postloft/contract/account-pages.ts";
import * as contract from "@postloft/contract/account.ts";
import { password as passwordRule } from "@postloft/contract/users.ts";
import { type Sealer } from "../platform/crypto.ts";
import { transaction, type Database } from "../platform/database.ts";
import { noContent, ok, route, type Route } from "../platform/http-route.ts";
import { takeOrRefuse, type RateLimiter, type Take } from "../platform/rate-limit.ts";
import { Refusal } from "../platform/refusal.ts";
import { networkOf } from "../platform/visitor-network.ts";
import {
  asPage,
  problemPage,
  refusedPage,
  resetDonePage,
  resetPage,
  verifiedPage,
  verifyPage,
} from "./account-pages.ts";
import {
  endOtherSessions,
  endSession,
  listSessions,
  readAccount,
  readResetAddress,
  requestAddressChange,
  requestPasswordReset,
  requestVerification,
  resetPassword,
  storePassword,
  verifyEmail,
} from "./account.ts";
import { attemptsOf, mailsTo } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";
import { lockUserOfSession } from "./recent-session.ts";
import { createRequirePassword } from "./require-password.ts";
import { wordsFor } from "./page-refusal.ts";
import { oauthRoutes } from "./oauth/routes.ts";
import type { OauthSettings } from "./oauth/settings.ts";
import { passkeyRoutes } from "./passkeys/routes.ts";
import type { PasskeyVerifier } from "./passkeys/verifier.ts";
import { secondFactorRoutes } from "./second-factor/routes.ts";
import type { Sessions } from "./sessions.ts";
import type { User } from "./users.ts";

/** An answer takes so long whether there is an account or not: a mail is queued well within it. */
const EVEN_MS = 250;

const SENT = "If the address needs it, a mail is on its way.";

export interface AccountParts {
  database: Database;
  sealer: Sealer;
  passwords: Passwords;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  verifier: PasskeyVerifier;
  oauth: OauthSettings;
  signupsDisabled: boolean;
  /** Whether an invitation waits for an address. */
  isInvited: (database: Database, email: string) => Promise<boolean>;
  baseUrl: () => string;
  wakeSender: () => void;
}

export function accountRoutes(parts: AccountParts): Route[] {
  return [
    ...mailedRoutes(parts),
    ...ownRoutes(parts),
    ...secondFactorRoutes({ ...parts, requirePassword: createRequirePassword(parts) }),
    ...passkeyRoutes(parts),
    ...pageRoutes(parts),
    ...oauthRoutes(parts),
  ];
}

async function proveAddress(database: Database, token: string): Promise<User> {
  return transaction(database, (tx) => verifyEmail(tx, token));
}

async function setNewPassword(
  { database, passwords }: AccountParts,
  { token, newPassword, network }: { token: string; newPassword: string; network: string },
): Promise<void> {
  // Nobody has a password hashed for a link that holds no more; it is taken with the new password.
  const email = await readResetAddress(database, token);
  const passwordHash = await passwords.hash(network, { email, password: newPassword }, "newPassword");
  await transaction(database, (tx) => resetPassword(tx, { token, passwordHash }));
}

function mailedRoutes(parts: AccountParts): Route[] {
  const { database, baseUrl, wakeSender } = parts;
  const limit = (take: Take) => takeOrRefuse(parts.rateLimiter, take);
  return [
    route(contract.requestVerification, async ({ userId, sessionId, commit }) => {
      await limit(mailsTo((await readAccount(database, userId)).email));
      const answer = await commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        // Read under the lock: a link to an address that the account had until now would take it back there.
        const account = await readAccount(tx, userId);
        await requestVerification(tx, account, baseUrl());
        return ok({ message: account.isVerified ? "The address is verified already." : SENT });
      });
      wakeSender();
      return answer;
    }),
    route(contract.verifyEmail, async ({ body, ip }) => {
      await limit(attemptsOf(networkOf(ip)));
      return ok(await proveAddress(database, body.token));
    }),
    route(contract.requestPasswordReset, async ({ body, ip }) => {
      await limit(attemptsOf(networkOf(ip)));
      await limit(mailsTo(body.email));
      const work = transaction(database, (tx) => requestPasswordReset(tx, body.email, baseUrl()));
      await Promise.all([work, delay(EVEN_MS)]);
      wakeSender();
      return ok({ message: "If the address has an account, a mail is on its way." });
    }),
    route(contract.resetPassword, async ({ body, ip }) => {
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      await setNewPassword(parts, { ...body, network });
      wakeSender();
      return ok({ message: "The password is set, and all sessions ended. Log in with it." });
    }),
  ];
}

function ownRoutes(parts: AccountParts): Route[] {
  const { database, passwords, baseUrl, wakeSender } = parts;
  const limit = (take: Take) => takeOrRefuse(parts.rateLimiter, take);
  const requirePassword = createRequirePassword(parts);
  return [
    route(contract.changePassword, async ({ userId, sessionId, body, ip, commit }) => {
      const network = networkOf(ip);
      const account = await requirePassword(userId, body.currentPassword, network);
      const given = { email: account.email, password: body.newPassword };
      const passwordHash = await passwords.hash(network, given, "newPassword");
      const answer = await commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        await storePassword(tx, account, passwordHash, sessionId);
        return ok({ message: "The password is changed, and all other sessions ended." });
      });
      wakeSender();
      return answer;
    }),
    route(contract.changeEmail, async ({ userId, sessionId, body, ip, commit }) => {
      const account = await requirePassword(userId, body.currentPassword, networkOf(ip));
      await limit(mailsTo(account.email));
      await limit(mailsTo(body.newEmail));
      const answer = await commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        await requestAddressChange(tx, account, body.newEmail, baseUrl());
        return ok({ message: "A mail is on its way to the new address; its link makes it yours." });
      });
      wakeSender();
      return answer;
    }),
    route(contract.listSessions, async ({ userId, sessionId }) =>
      ok(await listSessions(database, userId, sessionId ?? "")),
    ),
    route(contract.endSession, async ({ userId, params, commit }) =>
      commit(async (tx) => {
        await endSession(tx, userId, params.sessionId);
        return noContent();
      }),
    ),
    route(contract.endOtherSessions, async ({ userId, sessionId, commit }) =>
      commit(async (tx) => ok({ ended: await endOtherSessions(tx, userId, sessionId ?? "") })),
    ),
  ];
}

function pageRoutes(parts: AccountParts): Route[] {
  const { database, wakeSender } = parts;
  const limit = (take: Take) => takeOrRefuse(parts.rateLimiter, take);
  return [
    route(pages.showVerifyPage, async ({ headers }) => asPage(verifyPage(wordsFor(headers)))),
    route(pages.submitVerifyPage, async ({ params, ip, headers }) => {
      const words = wordsFor(headers);
      try {
        await limit(attemptsOf(networkOf(ip)));
        return asPage(verifiedPage(words, (await proveAddress(database, params.token)).email));
      } catch (error) {
        return refusedPage(words, pages.submitVerifyPage, error);
      }
    }),
    route(pages.showResetPage, async ({ headers }) => asPage(resetPage(wordsFor(headers), null))),
    route(pages.submitResetPage, async ({ params, body, ip, headers }) => {
      const words = wordsFor(headers);
      const network = networkOf(ip);
      const given = passwordRule.safeParse(body.newPassword);
      if (!given.success) return asPage(resetPage(words, words.texts.problems.password), 422);
      try {
        await limit(attemptsOf(network));
        await setNewPassword(parts, { token: params.token, newPassword: given.data, network });
        wakeSender();
        return asPage(resetDonePage(words));
      } catch (error) {
        const isAboutPassword = error instanceof Refusal && error.code === "VALIDATION_ERROR";
        return refusedPage(words, pages.submitResetPage, error, isAboutPassword ? resetPage : problemPage);
      }
    }),
  ];
}

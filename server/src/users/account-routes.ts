// HTTP routes for account changes, as JSON and as pages behind email links.
import * as pages from "@postloft/contract/account-pages.ts";
import * as contract from "@postloft/contract/account.ts";
import { password as passwordRule } from "@postloft/contract/users.ts";
import type { Sealer } from "../platform/crypto.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import { noContent, ok, route, type Route } from "../platform/http/route.ts";
import { takeOrThrow, type RateLimiter, type Take } from "../platform/http/rate-limit.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { networkOf } from "../platform/http/visitor-network.ts";
import {
  asPage,
  problemPage,
  errorPage,
  resetDonePage,
  resetPage,
  signedUpPage,
  signUpPage,
  verifiedPage,
  verifyPage,
} from "./account-pages.ts";
import {
  completeSignUp,
  endOtherSessions,
  endSession,
  listSessions,
  readAccount,
  readResetAddress,
  readSignUpAddress,
  requestAddressChange,
  requestPasswordReset,
  resetPassword,
  sendVerification,
  storePassword,
  verifyEmail,
} from "./account.ts";
import { attemptsOf, mailsTo, requestedEmailsTo } from "./attempts.ts";
import type { CheckGuess } from "./guesses.ts";
import type { Passwords } from "./passwords.ts";
import { placeOf } from "./place.ts";
import { sendRequested } from "./requested-email.ts";
import { lockUserOfSession } from "./recent-session.ts";
import { createRequirePassword } from "./require-password.ts";
import { wordsFor } from "./page-error.ts";
import { oauthRoutes } from "./oauth/routes.ts";
import type { OauthSettings } from "./oauth/settings.ts";
import { passkeyRoutes } from "./passkeys/routes.ts";
import type { PasskeyVerifier } from "./passkeys/verifier.ts";
import { secondFactorRoutes } from "./second-factor/routes.ts";
import type { Sessions } from "./sessions.ts";
import type { User } from "./users.ts";

const SENT = "If the address needs it, we sent an email.";

export interface AccountDependencies {
  database: Database;
  sealer: Sealer;
  passwords: Passwords;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  checkGuess: CheckGuess;
  verifier: PasskeyVerifier;
  oauth: OauthSettings;
  signupsDisabled: boolean;
  /** Returns whether an address has a pending invitation. */
  isInvited: (database: Database, email: string) => Promise<boolean>;
  /** Returns the names of the account's projects, which its password must not be. */
  projectNames: (database: Database, email: string) => Promise<string[]>;
  baseUrl: () => string;
  /** Addresses whose accounts administer the installation. */
  adminEmails: readonly string[];
}

export function accountRoutes(deps: AccountDependencies): Route[] {
  return [
    ...mailedRoutes(deps),
    ...ownRoutes(deps),
    ...secondFactorRoutes({ ...deps, requirePassword: createRequirePassword(deps) }),
    ...passkeyRoutes(deps),
    ...pageRoutes(deps),
    ...oauthRoutes(deps),
  ];
}

async function proveAddress(database: Database, token: string): Promise<User> {
  return transaction(database, (tx) => verifyEmail(tx, token));
}

async function setNewPassword(
  deps: AccountDependencies,
  { token, newPassword, network }: { token: string; newPassword: string; network: string },
): Promise<void> {
  const { database, rateLimiter } = deps;
  // Read before the expensive hash; the token is consumed together with the password change.
  const email = await readResetAddress(database, token);
  const passwordHash = await hashNew(deps, { email, newPassword, network });
  await transaction(database, (tx) => resetPassword(tx, { token, passwordHash }));
  // After a link was used, another one may be requested.
  await rateLimiter.giveBack(requestedEmailsTo(email, "reset"));
}

async function hashNew(
  { database, passwords, projectNames }: AccountDependencies,
  { email, newPassword, network }: { email: string; newPassword: string; network: string },
): Promise<string> {
  const projects = await projectNames(database, email);
  return passwords.hash(network, { email, password: newPassword, projects }, "newPassword");
}

function mailedRoutes(deps: AccountDependencies): Route[] {
  const { database, baseUrl } = deps;
  const limit = (take: Take) => takeOrThrow(deps.rateLimiter, take);
  return [
    route(contract.requestVerification, async ({ userId, sessionId, ip, headers, commit }) => {
      await limit(mailsTo((await readAccount(database, userId)).email));
      return commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        // Read under the lock, because a link to the previous address would change the account back to it.
        const account = await readAccount(tx, userId);
        const place = placeOf({ ip, headers });
        if (!account.isVerified)
          await sendVerification(tx, { user: account, place, reason: "AGAIN" }, baseUrl());
        return ok({ message: account.isVerified ? "The address is already verified." : SENT });
      });
    }),
    route(contract.verifyEmail, async ({ body, ip }) => {
      await limit(attemptsOf(networkOf(ip)));
      return ok(await proveAddress(database, body.token));
    }),
    route(contract.requestPasswordReset, async ({ body: { email }, ip, headers }) => {
      await limit(attemptsOf(networkOf(ip)));
      const asked = { email, place: placeOf({ ip, headers }) };
      await sendRequested(deps.rateLimiter, requestedEmailsTo(email, "reset"), () =>
        transaction(database, (tx) => requestPasswordReset(tx, asked, baseUrl())),
      );
      return ok({ message: "If the address has an account, we sent an email." });
    }),
    route(contract.resetPassword, async ({ body, ip }) => {
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      await setNewPassword(deps, { ...body, network });
      return ok({ message: "The password was set and all sessions have ended. Sign in with it." });
    }),
  ];
}

function ownRoutes(deps: AccountDependencies): Route[] {
  const { database, baseUrl } = deps;
  const limit = (take: Take) => takeOrThrow(deps.rateLimiter, take);
  const requirePassword = createRequirePassword(deps);
  return [
    route(contract.changePassword, async ({ userId, sessionId, body, ip, commit }) => {
      const network = networkOf(ip);
      const account = await requirePassword(userId, body.currentPassword, network);
      const { email } = account;
      const passwordHash = await hashNew(deps, { email, newPassword: body.newPassword, network });
      return commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        await storePassword(tx, account, passwordHash, sessionId);
        return ok({ message: "The password was changed and all other sessions have ended." });
      });
    }),
    route(contract.changeEmail, async ({ userId, sessionId, body, ip, headers, commit }) => {
      const account = await requirePassword(userId, body.currentPassword, networkOf(ip));
      // Otherwise one click on the confirmation link would make this account an admin of the installation.
      if (deps.adminEmails.includes(body.newEmail))
        throw invalidField("newEmail", "custom", "An account gets this address only by signing up with it.");
      await limit(requestedEmailsTo(body.newEmail, "change"));
      await limit(mailsTo(account.email));
      await limit(mailsTo(body.newEmail));
      return commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        const place = placeOf({ ip, headers });
        await requestAddressChange(tx, { user: account, place, newEmail: body.newEmail }, baseUrl());
        return ok({ message: "We sent a link to the new address. Open it to confirm the change." });
      });
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

const isAboutPassword = (error: unknown) => error instanceof AppError && error.code === "VALIDATION_ERROR";

function pageRoutes(deps: AccountDependencies): Route[] {
  const { database, baseUrl } = deps;
  const limit = (take: Take) => takeOrThrow(deps.rateLimiter, take);
  return [
    route(pages.showVerifyPage, async ({ headers }) => asPage(verifyPage(wordsFor(headers)))),
    route(pages.submitVerifyPage, async ({ params, ip, headers }) => {
      const words = wordsFor(headers);
      try {
        await limit(attemptsOf(networkOf(ip)));
        return asPage(verifiedPage(words, (await proveAddress(database, params.token)).email));
      } catch (error) {
        return errorPage(words, pages.submitVerifyPage, error);
      }
    }),
    route(pages.showSignUpPage, async ({ headers }) => asPage(signUpPage(wordsFor(headers), null))),
    route(pages.submitSignUpPage, async ({ params, body, ip, headers }) => {
      const words = wordsFor(headers);
      const network = networkOf(ip);
      const input = passwordRule.safeParse(body.password);
      if (!input.success) return asPage(signUpPage(words, words.texts.problems.password), 422);
      try {
        if (deps.signupsDisabled) throw new AppError("SIGNUPS_DISABLED");
        await limit(attemptsOf(network));
        const email = await readSignUpAddress(database, params.token);
        const passwordHash = await deps.passwords.hash(network, { email, password: input.data });
        const { token, language } = { ...params, ...words };
        await transaction(database, (tx) => completeSignUp(tx, { token, passwordHash, language }));
        return asPage(signedUpPage(words, email, `${baseUrl()}/app/sign-in`));
      } catch (error) {
        return errorPage(
          words,
          pages.submitSignUpPage,
          error,
          isAboutPassword(error) ? signUpPage : problemPage,
        );
      }
    }),
    route(pages.showResetPage, async ({ headers }) => asPage(resetPage(wordsFor(headers), null))),
    route(pages.submitResetPage, async ({ params, body, ip, headers }) => {
      const words = wordsFor(headers);
      const network = networkOf(ip);
      const input = passwordRule.safeParse(body.newPassword);
      if (!input.success) return asPage(resetPage(words, words.texts.problems.password), 422);
      try {
        await limit(attemptsOf(network));
        await setNewPassword(deps, { token: params.token, newPassword: input.data, network });
        return asPage(resetDonePage(words));
      } catch (error) {
        return errorPage(
          words,
          pages.submitResetPage,
          error,
          isAboutPassword(error) ? resetPage : problemPage,
        );
      }
    }),
  ];
}

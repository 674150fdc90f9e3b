// HTTP routes for signing up and in, and for the signed-in user.
import * as contract from "@postloft/contract/users.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Sealer } from "../platform/crypto.ts";
import { ok, route, type HttpResponse, type Route } from "../platform/http/route.ts";
import { takeFor, takeOrThrow, type RateLimiter, type Take } from "../platform/http/rate-limit.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { networkOf } from "../platform/http/visitor-network.ts";
import { acceptedLanguage } from "../emails/platform-email/mail-language.ts";
import { isPasswordCurrent } from "./account-queries.ts";
import { completeSignUp, readSignUpAddress, requestSignUp, sendVerification } from "./account.ts";
import { attemptsOf, requestedEmailsTo, signUpsOf } from "./attempts.ts";
import type { CheckGuess } from "./guesses.ts";
import type { Passwords } from "./passwords.ts";
import { readAssertion, usePasskey, type Shown } from "./passkeys/passkeys.ts";
import type { Assertion, PasskeyVerifier } from "./passkeys/verifier.ts";
import { placeOf, type SessionPlace } from "./place.ts";
import { findUserByEmail } from "./queries.ts";
import { sendRequested } from "./requested-email.ts";
import { guardCode } from "./second-factor/guard-code.ts";
import { passSecondFactor } from "./second-factor/second-factor.ts";
import type { Sessions } from "./sessions.ts";
import { chooseLanguage, createUser, getUser, type User } from "./users.ts";

/** The same for every address. */
const SIGN_UP_SENT = "Check your inbox: we sent you a link to continue.";

/** The second factor that is sent with a password. */
interface SecondFactor {
  code?: string | undefined;
  shown?: Shown | undefined;
}

export interface UserDependencies {
  database: Database;
  sealer: Sealer;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  checkGuess: CheckGuess;
  passwords: Passwords;
  verifier: PasskeyVerifier;
  signupsDisabled: boolean;
  /** Whether no email leaves the machine, so that a link in an email would prove nothing. */
  staysHere: boolean;
  baseUrl: () => string;
}

export function userRoutes(deps: UserDependencies): Route[] {
  return [...signUpRoutes(deps), ...logInRoutes(deps), ...ownRoutes(deps)];
}

const signedIn = (user: User, cookies: string[]): HttpResponse<200, User> => ({
  ...ok({ id: user.id, email: user.email }),
  headers: { "set-cookie": cookies },
});

function signUpRoutes(deps: UserDependencies): Route[] {
  const { database, sessions, rateLimiter, passwords, baseUrl } = deps;

  /** Creates an account and its first session in one transaction. */
  async function enterNew(create: (tx: Tx) => Promise<User>, place: SessionPlace) {
    return transaction(database, async (tx) => {
      const user = await create(tx);
      return signedIn(user, await sessions.start(tx, user.id, place));
    });
  }

  return [
    route(contract.signUp, async ({ body: { email, password }, ip, headers }) => {
      if (deps.signupsDisabled) throw new AppError("SIGNUPS_DISABLED");
      const [network, place] = [networkOf(ip), { ip, headers }];
      const language = acceptedLanguage(headers["accept-language"]);
      await takeOrThrow(rateLimiter, attemptsOf(network));
      if (!deps.staysHere) {
        await takeOrThrow(rateLimiter, signUpsOf(network));
        const asked = { email, language, place: placeOf(place) };
        await sendRequested(rateLimiter, requestedEmailsTo(email, "sign-up"), () =>
          transaction(database, (tx) => requestSignUp(tx, asked, baseUrl())),
        );
        return { status: 202 as const, body: { message: SIGN_UP_SENT } };
      }
      if (password === undefined) throw invalidField("password", "required", "Required.");
      const passwordHash = await passwords.hash(network, { email, password });
      return takeFor(rateLimiter, signUpsOf(network), () =>
        enterNew(async (tx) => {
          const user = await createUser(tx, { email, passwordHash, language });
          await sendVerification(tx, { user, place: placeOf(place), reason: "NEW" }, baseUrl());
          return user;
        }, place),
      );
    }),
    route(contract.completeSignUp, async ({ body: { token, password }, ip, headers }) => {
      if (deps.signupsDisabled) throw new AppError("SIGNUPS_DISABLED");
      const network = networkOf(ip);
      await takeOrThrow(rateLimiter, attemptsOf(network));
      // Read before the expensive hash; the token is consumed when the account is created.
      const email = await readSignUpAddress(database, token);
      const passwordHash = await passwords.hash(network, { email, password });
      const language = acceptedLanguage(headers["accept-language"]);
      return enterNew((tx) => completeSignUp(tx, { token, passwordHash, language }), { ip, headers });
    }),
  ];
}

function logInRoutes(deps: UserDependencies): Route[] {
  const { database, sealer, sessions, rateLimiter, passwords } = deps;
  const limit = (take: Take) => takeOrThrow(rateLimiter, take);

  /** Starts a session unless the password was changed in between, because that change has already ended the account's sessions. */
  async function loggedIn(
    user: User & { passwordHash: string },
    place: SessionPlace,
    second: SecondFactor,
  ): Promise<HttpResponse<200, User>> {
    const cookies = await transaction(database, async (tx) => {
      if (!(await isPasswordCurrent(tx, user.id, user.passwordHash)))
        throw new AppError("INVALID_CREDENTIALS");
      if (second.shown === undefined) await passSecondFactor(tx, sealer, user.id, second.code);
      else await usePasskey(tx, second.shown);
      return sessions.start(tx, user.id, place);
    });
    return signedIn(user, cookies);
  }

  /** Returns the passkey's owner if it belongs to the account of the password. Another account's passkey fails like an invalid one. */
  async function passkeyOf(user: User, passkey: Assertion, network: string): Promise<Shown> {
    const shown = await readAssertion(deps, network, passkey);
    if (shown.user.id !== user.id) throw new AppError("INVALID_CREDENTIALS");
    return shown;
  }

  return [
    route(contract.logIn, async ({ body, ip, headers }) => {
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      const row = await findUserByEmail(database, body.email);
      const isKnownDevice = row !== undefined && sessions.isKnownDevice(headers, row.id);
      const guess = { account: body.email, network, isKnownDevice };
      const user = await deps.checkGuess(guess, async () => {
        const isRight = await passwords.matches(network, row?.passwordHash, body.password);
        return isRight && row?.passwordHash ? { ...row, passwordHash: row.passwordHash } : undefined;
      });
      if (user === undefined) throw new AppError("INVALID_CREDENTIALS");
      const { code, passkey } = body;
      return guardCode(rateLimiter, { userId: user.id, code, isKnownDevice }, async () => {
        const shown = passkey && (await passkeyOf(user, passkey, network));
        return loggedIn(user, { ip, headers }, { code, shown });
      });
    }),
  ];
}

function ownRoutes({ database, sessions }: { database: Database; sessions: Sessions }): Route[] {
  return [
    route(contract.logOut, async ({ sessionId, commit }) =>
      commit(async (tx) => ({
        ...ok({}),
        headers: { "set-cookie": await sessions.end(tx, sessionId ?? "") },
      })),
    ),
    route(contract.getMe, async ({ userId }) => ok(await getUser(database, userId))),
    route(contract.updateMe, async ({ userId, body, commit }) =>
      commit(async (tx) => ok(await chooseLanguage(tx, userId, body.language))),
    ),
  ];
}

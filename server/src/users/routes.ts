// HTTP for accounts: endpoint → verb → answer. Logging in is limited per account and address, by counters all processes share.
import * as contract from "@postloft/contract/users.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { transaction, type Database } from "../platform/database.ts";
import { sha256, type Sealer } from "../platform/crypto.ts";
import { ok, route, type Answer, type Route } from "../platform/http-route.ts";
import { takeFor, takeOrRefuse, type RateLimiter, type Take } from "../platform/rate-limit.ts";
import { Refusal } from "../platform/refusal.ts";
import { networkOf } from "../platform/visitor-network.ts";
import { acceptedLanguage } from "../emails/system-mail/mail-language.ts";
import { holdsPassword } from "./account-queries.ts";
import { sendVerification } from "./account.ts";
import { attemptsOf, codesOf, signUpsAs, signUpsOf } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";
import { readAssertion, usePasskey, type Shown } from "./passkeys/passkeys.ts";
import type { Assertion, PasskeyVerifier } from "./passkeys/verifier.ts";
import { passSecondFactor } from "./second-factor/second-factor.ts";
import type { SessionPlace, Sessions } from "./sessions.ts";
import { chooseLanguage, findUserByCredentials, getUser, signUpAs, type User } from "./users.ts";

const LOGIN_WINDOW_SECONDS = 600;

/** What was given beside the password. */
interface SecondFactor {
  code?: string | undefined;
  shown?: Shown | undefined;
}

export function userRoutes(dependencies: {
  database: Database;
  sealer: Sealer;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  passwords: Passwords;
  verifier: PasskeyVerifier;
  signupsDisabled: boolean;
  baseUrl: () => string;
  wakeSender: () => void;
}): Route[] {
  const { database, sealer, sessions, rateLimiter, passwords, baseUrl, wakeSender } = dependencies;

  const limit = (take: Take) => takeOrRefuse(rateLimiter, take);

  /** No session begins with a password that was changed meanwhile: the change has ended those that were there. */
  async function loggedIn(
    user: User & { passwordHash: string },
    place: SessionPlace,
    second: SecondFactor = {},
  ): Promise<Answer<200, { id: string; email: string }>> {
    const cookie = await transaction(database, async (tx) => {
      if (!(await holdsPassword(tx, user.id, user.passwordHash))) throw new Refusal("INVALID_CREDENTIALS");
      if (second.shown === undefined) await passSecondFactor(tx, sealer, user.id, second.code);
      else await usePasskey(tx, second.shown);
      return sessions.start(tx, user.id, place);
    });
    return { ...ok({ id: user.id, email: user.email }), headers: { "set-cookie": cookie } };
  }

  /** One of the account whose password was right; one of another account is as wrong as none. */
  async function passkeyOf(user: User, passkey: Assertion, network: string): Promise<Shown> {
    const shown = await readAssertion(dependencies, network, passkey);
    if (shown.user.id !== user.id) throw new Refusal("INVALID_CREDENTIALS");
    return shown;
  }

  return [
    route(contract.signUp, async ({ body, ip, headers }) => {
      if (dependencies.signupsDisabled) throw new Refusal("SIGNUPS_DISABLED");
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      const passwordHash = await passwords.hash(network, body);
      await limit(signUpsAs(body.email));
      const language = acceptedLanguage(headers["accept-language"]);
      const user = await takeFor(rateLimiter, signUpsOf(network), () =>
        transaction(database, async (tx) => {
          const account = await signUpAs(tx, { email: body.email, passwordHash, language });
          if (account.isNew) await sendVerification(tx, account, baseUrl());
          return account;
        }),
      );
      wakeSender();
      return loggedIn({ ...user, passwordHash }, { ip, headers });
    }),
    route(contract.logIn, async ({ body, ip, headers }) => {
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      // Counted before the password is looked at, so that guesses in parallel cannot slip through; a right one is not counted.
      const failures = {
        bucket: `login:${sha256(body.email).toString("base64url")}:${network}`,
        limit: LIMITS.loginFailures.value,
        windowSeconds: LOGIN_WINDOW_SECONDS,
      };
      await limit(failures);
      const user = await findUserByCredentials(dependencies, body, network);
      if (user === null) throw new Refusal("INVALID_CREDENTIALS");
      await rateLimiter.giveBack(failures);
      if (body.code === undefined && body.passkey === undefined) return loggedIn(user, { ip, headers });
      await limit(codesOf(user.id));
      const shown = body.passkey && (await passkeyOf(user, body.passkey, network));
      const answer = await loggedIn(user, { ip, headers }, { code: body.code, shown });
      await rateLimiter.giveBack(codesOf(user.id));
      return answer;
    }),
    ...ownRoutes(dependencies),
  ];
}

/** Of whoever is logged in. */
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

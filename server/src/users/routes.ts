// HTTP for accounts: endpoint → verb → answer. Logging in is limited per account and address, by counters all processes share.
import * as contract from "@postloft/contract/users.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { transaction, type Database } from "../platform/database.ts";
import { sha256, type Sealer } from "../platform/crypto.ts";
import { ok, route, type Answer, type Route } from "../platform/http-route.ts";
import { takeOrRefuse, type RateLimiter, type Take } from "../platform/rate-limit.ts";
import { Refusal } from "../platform/refusal.ts";
import { networkOf } from "../platform/visitor-network.ts";
import { holdsPassword } from "./account-queries.ts";
import { sendVerification } from "./account.ts";
import { attemptsOf, codesOf } from "./attempts.ts";
import type { Passwords } from "./passwords.ts";
import { passSecondFactor } from "./second-factor/second-factor.ts";
import type { SessionPlace, Sessions } from "./sessions.ts";
import { createUser, findUserByCredentials, getUser, type User } from "./users.ts";

const LOGIN_WINDOW_SECONDS = 600;

export function userRoutes(dependencies: {
  database: Database;
  sealer: Sealer;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  passwords: Passwords;
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
    code?: string,
  ): Promise<Answer> {
    const cookie = await transaction(database, async (tx) => {
      if (!(await holdsPassword(tx, user.id, user.passwordHash))) throw new Refusal("INVALID_CREDENTIALS");
      await passSecondFactor(tx, sealer, user.id, code);
      return sessions.start(tx, user.id, place);
    });
    return { ...ok({ id: user.id, email: user.email }), headers: { "set-cookie": cookie } };
  }

  return [
    route(contract.signUp, async ({ body, ip, headers }) => {
      if (dependencies.signupsDisabled) throw new Refusal("SIGNUPS_DISABLED");
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      // Counted before it is known, so that questions in parallel cannot slip through; a new account is not counted.
      const conflicts = {
        bucket: `signup:${network}`,
        limit: LIMITS.signUpConflicts.value,
        windowSeconds: LOGIN_WINDOW_SECONDS,
      };
      const passwordHash = await passwords.hash(network, body);
      await limit(conflicts);
      const user = await transaction(database, async (tx) => {
        const made = await createUser(tx, { email: body.email, passwordHash });
        await sendVerification(tx, made, baseUrl());
        return made;
      });
      wakeSender();
      await rateLimiter.giveBack(conflicts);
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
      if (body.code === undefined) return loggedIn(user, { ip, headers });
      await limit(codesOf(user.id));
      const answer = await loggedIn(user, { ip, headers }, body.code);
      await rateLimiter.giveBack(codesOf(user.id));
      return answer;
    }),
    route(contract.logOut, async ({ sessionId, commit }) =>
      commit(async (tx) => ({
        ...ok({}),
        headers: { "set-cookie": await sessions.end(tx, sessionId ?? "") },
      })),
    ),
    route(contract.getMe, async ({ userId }) => ok(await getUser(database, userId))),
  ];
}

// HTTP routes for passkeys. Sign-in methods can only be changed in a session that began within the last hour.
import * as contract from "@postloft/contract/passkeys.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { sha256 } from "../../platform/crypto.ts";
import { transaction, type Database } from "../../platform/database/database.ts";
import { noContent, ok, route, type Route } from "../../platform/http/route.ts";
import { takeOrThrow, type RateLimiter, type Take } from "../../platform/http/rate-limit.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import { attemptsOf } from "../attempts.ts";
import { requireRecentSession } from "../recent-session.ts";
import type { Sessions } from "../sessions.ts";
import { getUser } from "../users.ts";
import {
  addPasskey,
  askForPasskey,
  beginPasskey,
  listPasskeys,
  readAssertion,
  readRegistration,
  removePasskey,
  renamePasskey,
  usePasskey,
} from "./passkeys.ts";
import type { PasskeyVerifier } from "./verifier.ts";

const LOGIN_WINDOW_SECONDS = 600;

interface PasskeyDependencies {
  database: Database;
  sessions: Sessions;
  rateLimiter: RateLimiter;
  verifier: PasskeyVerifier;
  baseUrl: () => string;
}

export function passkeyRoutes(deps: PasskeyDependencies): Route[] {
  return [...loginRoutes(deps), ...ownRoutes(deps)];
}

/** Limits failed attempts per passkey and network, like wrong passwords per address. */
const failuresOf = (credentialId: string, network: string): Take => ({
  bucket: `passkey:${sha256(credentialId).toString("base64url")}:${network}`,
  limit: LIMITS.loginFailures.value,
  windowSeconds: LOGIN_WINDOW_SECONDS,
});

function loginRoutes(deps: PasskeyDependencies): Route[] {
  const { database, sessions, rateLimiter } = deps;
  const limit = (take: Take) => takeOrThrow(rateLimiter, take);
  return [
    route(contract.askPasskey, async ({ ip }) => {
      await limit(attemptsOf(networkOf(ip)));
      return ok(await askForPasskey(deps));
    }),
    route(contract.logInByPasskey, async ({ body, ip, headers }) => {
      const network = networkOf(ip);
      await limit(attemptsOf(network));
      // Counted before verification, so that parallel guesses count too. A valid passkey is refunded.
      const failures = failuresOf(body.passkey.id, network);
      await limit(failures);
      const shown = await readAssertion(deps, network, body.passkey);
      const cookies = await transaction(database, async (tx) => {
        await usePasskey(tx, shown);
        return sessions.start(tx, shown.user.id, { ip, headers });
      });
      await rateLimiter.giveBack(failures);
      return { ...ok(shown.user), headers: { "set-cookie": cookies } };
    }),
  ];
}

function ownRoutes(deps: PasskeyDependencies): Route[] {
  const { database, rateLimiter } = deps;
  return [
    route(contract.listPasskeys, async ({ userId }) => ok(await listPasskeys(database, userId))),
    route(contract.beginPasskey, async ({ userId, sessionId, ip }) => {
      await takeOrThrow(rateLimiter, attemptsOf(networkOf(ip)));
      await requireRecentSession(database, sessionId);
      return ok(await beginPasskey(deps, await getUser(database, userId)));
    }),
    route(contract.addPasskey, async ({ userId, sessionId, body, ip, commit }) => {
      await takeOrThrow(rateLimiter, attemptsOf(networkOf(ip)));
      await requireRecentSession(database, sessionId);
      const made = await readRegistration(deps, userId, body.passkey);
      return commit(async (tx) => ok(await addPasskey(tx, { userId, sessionId }, body.name, made)));
    }),
    route(contract.renamePasskey, async ({ userId, params, body, commit }) =>
      commit(async (tx) => ok(await renamePasskey(tx, userId, params.passkeyId, body.name))),
    ),
    route(contract.removePasskey, async ({ userId, sessionId, params, commit }) => {
      await requireRecentSession(database, sessionId);
      return commit(async (tx) => {
        await removePasskey(tx, userId, params.passkeyId);
        return noContent();
      });
    }),
  ];
}

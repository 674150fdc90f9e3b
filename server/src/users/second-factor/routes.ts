// HTTP routes for the second factor. Wrong passwords and codes are counted per account across all processes.
import * as contract from "@postloft/contract/second-factor.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database } from "../../platform/database/database.ts";
import { noContent, ok, route, type Route } from "../../platform/http/route.ts";
import type { RateLimiter } from "../../platform/http/rate-limit.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import { lockUserOfSession } from "../recent-session.ts";
import { getUser } from "../users.ts";
import type { RequirePassword } from "../require-password.ts";
import { guardCode } from "./guard-code.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  endSecondFactor,
  readSecondFactor,
  renewRecoveryCodes,
} from "./second-factor.ts";

export function secondFactorRoutes(parts: {
  database: Database;
  sealer: Sealer;
  rateLimiter: RateLimiter;
  requirePassword: RequirePassword;
}): Route[] {
  const { database, sealer, rateLimiter, requirePassword } = parts;

  async function guarded<T>(userId: string, code: string, work: () => Promise<T>): Promise<T> {
    return guardCode(rateLimiter, { userId, code }, work);
  }

  return [
    route(contract.getSecondFactor, async ({ userId }) => ok(await readSecondFactor(database, userId))),
    route(contract.beginSecondFactor, async ({ userId, sessionId, body, ip, commit }) => {
      const user = await requirePassword(userId, body.currentPassword, networkOf(ip));
      return commit(async (tx) => {
        await lockUserOfSession(tx, { userId, sessionId });
        return ok(await beginSecondFactor(tx, sealer, user));
      });
    }),
    route(contract.confirmSecondFactor, async ({ userId, sessionId, body, commit }) => {
      const user = await getUser(database, userId);
      return guarded(userId, body.code, () =>
        commit(async (tx) => {
          await lockUserOfSession(tx, { userId, sessionId });
          const recoveryCodes = await confirmSecondFactor(tx, sealer, { user, sessionId, code: body.code });
          return ok({ recoveryCodes });
        }),
      );
    }),
    route(contract.renewRecoveryCodes, async ({ userId, sessionId, body, ip, commit }) => {
      const user = await requirePassword(userId, body.currentPassword, networkOf(ip));
      return guarded(userId, body.code, () =>
        commit(async (tx) => {
          await lockUserOfSession(tx, { userId, sessionId });
          return ok({ recoveryCodes: await renewRecoveryCodes(tx, sealer, user, body.code) });
        }),
      );
    }),
    route(contract.endSecondFactor, async ({ userId, sessionId, body, ip, commit }) => {
      const user = await requirePassword(userId, body.currentPassword, networkOf(ip));
      return guarded(userId, body.code, () =>
        commit(async (tx) => {
          await lockUserOfSession(tx, { userId, sessionId });
          await endSecondFactor(tx, sealer, user, body.code);
          return noContent();
        }),
      );
    }),
  ];
}

// HTTP route for deleting an account, which is rejected while a project needs its owner.
import { deleteAccount as endpoint } from "@postloft/contract/account.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import type { Database } from "../../platform/database/database.ts";
import { route, type Route } from "../../platform/http/route.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import { actorOf } from "../../audit/audit-log.ts";
import { readAccount } from "../../users/account.ts";
import type { CheckGuess } from "../../users/guesses.ts";
import type { Passwords } from "../../users/passwords.ts";
import { placeOf } from "../../users/place.ts";
import { lockUserOfSession, requireRecentSession } from "../../users/recent-session.ts";
import { createRequirePassword } from "../../users/require-password.ts";
import type { Sessions } from "../../users/sessions.ts";
import { deleteAccount } from "./delete-account.ts";

export function accountDeletionRoutes(parts: {
  database: Database;
  sessions: Sessions;
  passwords: Passwords;
  checkGuess: CheckGuess;
}): Route[] {
  const { database, sessions } = parts;
  const requirePassword = createRequirePassword(parts);
  return [
    route(endpoint, async (call) => {
      const { userId, sessionId, ip, headers, body } = call;
      const account = await readAccount(database, userId);
      if (body.confirm !== account.email)
        throw invalidField("confirm", "custom", "Must be the email address of your account.");
      if (account.passwordHash === null) await requireRecentSession(database, sessionId);
      else if (body.currentPassword === undefined) throw new AppError("INVALID_CREDENTIALS");
      else await requirePassword(userId, body.currentPassword, networkOf(ip));
      return call.commit(async (tx) => {
        const user = await lockUserOfSession(tx, { userId, sessionId });
        const cookie = await sessions.end(tx, sessionId ?? "");
        await deleteAccount(tx, user, actorOf(call), placeOf({ ip, headers }));
        return { status: 204 as const, body: null, headers: { "set-cookie": cookie } };
      });
    }),
  ];
}

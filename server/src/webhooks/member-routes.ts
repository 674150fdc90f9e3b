// HTTP routes of members' notification webhooks.
import * as contract from "@postloft/contract/notifications.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { createWebhookCaller } from "./call-webhook.ts";
import { changeMemberWebhook, readMemberWebhook, testMemberWebhook } from "./member-webhooks.ts";
import type { CallTargets } from "./networks.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export function memberWebhookRoutes(parts: {
  database: Database;
  sealer: Sealer;
  dns: Dns;
  rateLimiter: RateLimiter;
  webhookTargets: CallTargets;
}): Route[] {
  const { database, sealer, dns, rateLimiter, webhookTargets } = parts;
  const secrets = createWebhookSecrets(sealer);
  const call = createWebhookCaller({ dns, targets: webhookTargets });
  return [
    route(contract.getNotificationWebhook, async ({ projectId, userId }) =>
      ok(await readMemberWebhook(database, { projectId, userId })),
    ),
    route(contract.setNotificationWebhook, async ({ projectId, userId, body, commit }) =>
      commit(async (tx) => {
        await changeMemberWebhook(tx, { projectId, userId }, body.url, webhookTargets);
        return ok(await readMemberWebhook(tx, { projectId, userId }));
      }),
    ),
    route(contract.testNotificationWebhook, async ({ projectId, userId }) =>
      ok(await testMemberWebhook({ database, rateLimiter, secrets, call }, { projectId, userId })),
    ),
  ];
}

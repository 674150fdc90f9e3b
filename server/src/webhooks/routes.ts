// HTTP routes of the webhook secret.
import * as contract from "@postloft/contract/webhooks.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export function webhookSecretRoutes({ database, sealer }: { database: Database; sealer: Sealer }): Route[] {
  const secrets = createWebhookSecrets(sealer);
  return [
    route(contract.getWebhookSecret, async ({ projectId }) => {
      const [secret] = await secrets.read(database, projectId);
      return ok({ secret });
    }),
    route(contract.rotateWebhookSecret, async (call) => {
      const { projectId } = call;
      return call.commit(async (tx) => {
        const secret = await secrets.rotate(tx, projectId);
        await recordAudit(tx, [{ projectId, actor: actorOf(call), action: "webhookSecret.rotated" }]);
        return ok({ secret });
      });
    }),
  ];
}

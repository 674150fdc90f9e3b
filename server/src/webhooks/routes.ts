// HTTP for the secret of webhooks: endpoint → verb → answer. Only admins and the secret key.
import * as contract from "@postloft/contract/webhooks.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database.ts";
import { ok, route, type CallerRole, type Route } from "../platform/http-route.ts";
import { Refusal } from "../platform/refusal.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

function requireAdmin(role: CallerRole | null): void {
  if (role === "MEMBER")
    throw new Refusal("FORBIDDEN", {
      message: "Only an admin of the project may see or replace the secret of its webhooks.",
    });
}

export function webhookSecretRoutes({ database, sealer }: { database: Database; sealer: Sealer }): Route[] {
  const secrets = createWebhookSecrets(sealer);
  return [
    route(contract.getWebhookSecret, async ({ projectId, role }) => {
      requireAdmin(role);
      const [secret] = await secrets.read(database, projectId);
      return ok({ secret });
    }),
    route(contract.rotateWebhookSecret, async ({ projectId, role, commit }) => {
      requireAdmin(role);
      return commit(async (tx) => ok({ secret: await secrets.rotate(tx, projectId) }));
    }),
  ];
}

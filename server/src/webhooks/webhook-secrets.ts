// Manages the secret that signs a project's webhooks. It is created on first use, stored encrypted, and replaced by a rotation.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { findSecrets, insertSecret, upsertSecret } from "./secret-queries.ts";
import { makeWebhookSecret } from "./sign-webhook.ts";

export interface WebhookSecrets {
  /**
   * Returns the current secret, and the former one while it still signs.
   * @throws if they were encrypted with another application secret
   */
  read(database: Database, projectId: string): Promise<[string, ...string[]]>;
  /**
   * Replaces the secret and returns the new one, which signs from the commit on. The former one signs for 24 more hours, older ones no
   * longer.
   */
  rotate(tx: Tx, projectId: string): Promise<string>;
}

function contextOf(projectId: string): string {
  return `webhook secret ${projectId}`;
}

export function createWebhookSecrets(sealer: Sealer): WebhookSecrets {
  const newlySealed = (projectId: string) => {
    const secret = makeWebhookSecret();
    return { secret, sealed: sealer.seal(secret, contextOf(projectId)) };
  };
  return {
    async read(database, projectId) {
      const { value: hours } = LIMITS.webhookSecretHours;
      let found = await findSecrets(database, projectId, hours);
      if (found === undefined) {
        await insertSecret(database, projectId, newlySealed(projectId).sealed);
        found = await findSecrets(database, projectId, hours);
      }
      if (found === undefined) throw new Error("The project of a webhook secret is gone.");
      const open = (sealed: Buffer) => sealer.open(sealed, contextOf(projectId));
      return [open(found.sealed), ...(found.formerSealed === null ? [] : [open(found.formerSealed)])];
    },
    async rotate(tx, projectId) {
      const { secret, sealed } = newlySealed(projectId);
      await upsertSecret(tx, projectId, sealed);
      return secret;
    },
  };
}

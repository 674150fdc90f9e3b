// The secret of each project that signs its webhooks: made when it is needed first, sealed, replaced by a rotation.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { findSecrets, insertSecret, upsertSecret } from "./secret-queries.ts";
import { makeWebhookSecret } from "./sign-webhook.ts";

export interface WebhookSecrets {
  /**
   * The one that counts, then the one before it while it still signs.
   * @throws when they were sealed under another application secret
   */
  read(database: Database, projectId: string): Promise<[string, ...string[]]>;
  /** Returns the new one. With the commit it signs, and the one before for 24 hours more; the one before that no longer. */
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

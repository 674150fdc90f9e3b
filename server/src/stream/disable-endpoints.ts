// Disables webhook endpoints that accepted nothing for days.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Tx } from "../platform/database/database.ts";
import { recordAudit, SERVICE } from "../audit/audit-log.ts";
import { maskUrl } from "../webhooks/webhook-vault.ts";
import { updateToDisabled } from "./delivery-queries.ts";

/** Disables an endpoint that has failed for too long. Its deliveries wait until it is enabled again. */
export async function disableIfFailing(
  tx: Tx,
  { projectId, endpointId: id }: { projectId: string; endpointId: string },
): Promise<void> {
  const days = LIMITS.eventRetryDays.value;
  const reason = `All calls failed for ${days} days.`;
  const url = await updateToDisabled(tx, { projectId, id }, { days, reason });
  if (url === undefined) return;
  const target = { id, name: maskUrl(url) };
  await recordAudit(tx, [{ projectId, actor: SERVICE, action: "webhookEndpoint.disabled", target }]);
}

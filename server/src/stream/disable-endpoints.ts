// Disables webhook endpoints that accepted nothing for days.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import { recordAudit, SERVICE } from "../audit/audit-log.ts";
import { notificationMail } from "../projects/members/notification-mails.ts";
import { notifyMembers } from "../projects/members/notifications.ts";
import { maskUrl } from "../webhooks/webhook-vault.ts";
import { updateToDisabled } from "./delivery-queries.ts";

/** Disables an endpoint that has failed for too long, and notifies the members. Its deliveries wait until it is enabled again. */
export async function disableIfFailing(
  tx: Tx,
  { projectId, endpointId: id, error }: { projectId: string; endpointId: string; error: string | null },
  baseUrl: string,
): Promise<void> {
  const days = LIMITS.eventRetryDays.value;
  const reason = recordedReason("allCallsFailed", { days });
  const stored = await updateToDisabled(tx, { projectId, id }, { days, reason });
  if (stored === undefined) return;
  const url = maskUrl(stored);
  const target = { id, name: url };
  await recordAudit(tx, [{ projectId, actor: SERVICE, action: "webhookEndpoint.disabled", target }]);
  const mail = notificationMail(
    (texts) => texts.disabledEndpoint({ url, days, error: error ?? reason }),
    `${baseUrl}/app/${projectId}/settings?tab=webhooks&endpoint=${id}`,
  );
  const facts = { endpointId: id, url, error };
  await notifyMembers(tx, { projectId, kind: "webhook-disabled", facts }, mail);
}

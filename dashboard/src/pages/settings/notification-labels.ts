// Labels of the notification kinds.
import type { NotificationKind } from "@postloft/contract/notifications.ts";
import { t } from "../../text/t.ts";

export const NOTIFICATION_LABELS: Record<NotificationKind, string> = {
  "domain-lost": t("Sender or link domain no longer verified"),
  "campaign-paused": t("Sending paused automatically"),
  "reputation-warning": t("High bounce or complaint rate"),
  "cap-near": t("Monthly cap at 80% or reached"),
  "job-failed": t("Import, bulk change or other job failed"),
  "workflow-failed": t("Workflow failed or paused automatically"),
  "webhook-disabled": t("Webhook endpoint disabled automatically"),
  "weekly-summary": t("Weekly summary on Mondays"),
};

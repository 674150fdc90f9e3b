// What each kind of notification tells, in the viewer's language.
import type { NotificationKind } from "@postloft/contract/notifications.ts";
import { t } from "../../text/t.ts";

export const NOTIFICATION_LABELS: Record<NotificationKind, string> = {
  "domain-lost": t("A sender domain lost its DNS proof"),
  "campaign-paused": t("A campaign, or mail to one provider, paused by itself"),
  "reputation-warning": t("Bounces or complaints come near to what disables the project"),
  "cap-near": t("A cap on the mails of a month is reached to 80 %, or in full"),
  "job-failed": t("An import, a bulk change or another job failed"),
  "weekly-summary": t("A summary of the last week, on Mondays"),
};

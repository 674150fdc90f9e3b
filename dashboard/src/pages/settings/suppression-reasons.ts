// Names the reasons why an address is on the suppression list.
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";
import { t } from "../../text/t.ts";

export const SUPPRESSION_REASONS: Record<SuppressionReason, string> = {
  COMPLAINT: t("Reported as spam"),
  HARD_BOUNCE: t("Hard bounce"),
  MANUAL: t("Added manually"),
  IMPORT: t("Imported"),
};

// Labels of the email types.
import type { TemplateType } from "@postloft/contract/templates.ts";
import { t } from "../../text/t.ts";

export const KINDS: Record<TemplateType, { label: string; about: string }> = {
  MARKETING: {
    label: t("Marketing"),
    about: t("For subscribed contacts. We add an unsubscribe footer."),
  },
  HEADLESS: {
    label: t("Marketing (no footer)"),
    about: t("For subscribed contacts. You add the unsubscribe link."),
  },
  TRANSACTIONAL: {
    label: t("Transactional"),
    about: t("For everyone, including unsubscribed contacts. Use it for receipts and password resets."),
  },
};

export const KIND_OPTIONS = (Object.keys(KINDS) as TemplateType[]).map((value) => ({
  value,
  label: KINDS[value].label,
}));

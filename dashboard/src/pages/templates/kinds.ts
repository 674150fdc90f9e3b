// What kinds of mail there are, in words.
import type { TemplateType } from "@postloft/contract/templates.ts";
import { t } from "../../text/t.ts";

export const KINDS: Record<TemplateType, { label: string; about: string }> = {
  MARKETING: {
    label: t("Marketing"),
    about: t("To subscribed contacts only, with a footer to unsubscribe."),
  },
  HEADLESS: {
    label: t("Marketing without footer"),
    about: t("To subscribed contacts only; the link to unsubscribe is yours to place."),
  },
  TRANSACTIONAL: {
    label: t("Transactional"),
    about: t("To everybody, also those who unsubscribed: receipts, passwords, what somebody waits for."),
  },
};

export const KIND_OPTIONS = (Object.keys(KINDS) as TemplateType[]).map((value) => ({
  value,
  label: KINDS[value].label,
}));

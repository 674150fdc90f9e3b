// Display names of the report dimensions.
import { t } from "../../text/t.ts";

export const PROVIDERS: Readonly<Record<string, string>> = {
  gmail: "Gmail",
  microsoft: "Microsoft",
  yahoo: "Yahoo",
  apple: "Apple",
  proton: "Proton",
  gmx: "GMX",
  yandex: "Yandex",
  "mail.ru": "Mail.ru",
  other: t("Others"),
};
export const KINDS: Readonly<Record<string, string>> = {
  TRANSACTIONAL: t("Transactional"),
  CAMPAIGN: t("Campaign"),
  WORKFLOW: t("Workflow"),
  INBOUND: t("Received"),
};

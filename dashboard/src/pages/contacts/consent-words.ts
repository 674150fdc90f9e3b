// Says how a contact was added, and how its subscription changed.
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";

export type Change = ApiResponse<typeof api.contacts.consent>["data"][number];

export const SOURCES: Record<Change["source"], string> = {
  page: t("Subscription page"),
  "one-click": t("Unsubscribe button in the email app"),
  api: t("API"),
  import: t("Import"),
  bulk: t("Bulk change"),
  bounce: t("Hard bounce"),
  complaint: t("Reported as spam"),
  dashboard: t("Dashboard"),
  workflow: t("Workflow"),
  inbound: t("Reply from the contact"),
  "opt-out": t("Earlier opt-out of this address"),
};

const ARRIVALS: Partial<Record<Change["source"], string>> = {
  api: t("Added through the API"),
  import: t("Added by an import"),
  dashboard: t("Added in the dashboard"),
  workflow: t("Added by a workflow"),
  inbound: t("Added because they wrote to you"),
  page: t("Added by a subscription page"),
};
/** The actor of a call with the public key. */
const PUBLIC_KEY = "public-key";

/** Returns how a contact was added. */
export function arrivalText({ source, actor }: Pick<Change, "source" | "actor">): string {
  if (actor === PUBLIC_KEY) return t("Added by your website or app, with the public key");
  return ARRIVALS[source] ?? t("Added");
}

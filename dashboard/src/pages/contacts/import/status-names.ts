// Names of import statuses and column targets.
import type {
  ColumnTarget,
  DateOrder,
  ImportStatus,
  ValueType,
} from "@postloft/contract/contact-file/mapping.ts";
import { t } from "../../../text/t.ts";
import { formatNumber } from "../../../ui/format.ts";

export const TARGET_NAMES: Record<ColumnTarget, string> = {
  email: t("Email"),
  status: t("Subscription status"),
  field: t("Custom field"),
  ignore: t("Don't import"),
};
export const STATUS_NAMES: Record<ImportStatus, string> = {
  subscribed: t("Subscribed"),
  unsubscribed: t("Unsubscribed"),
  suppressed: t("Suppressed"),
  skip: t("Skip"),
};
export const TYPE_CHOICES: Record<Exclude<ValueType, "auto">, string> = {
  text: t("Text"),
  number: t("Number"),
  boolean: t("Yes or no"),
  date: t("Date"),
};
export const ORDER_NAMES: Record<DateOrder, string> = {
  DMY: t("Day first: 31/12/2027"),
  MDY: t("Month first: 12/31/2027"),
  YMD: t("Year first: 2027/12/31"),
};

interface CountedStatuses {
  subscribed: number;
  unsubscribed: number;
  suppressed: number;
  skipped: number;
  withoutStatus?: number;
}

/** Returns a text such as "1,170 subscribed · 702 unsubscribed". Omits zeros unless all counts are zero. */
export function statusCountsText(counts: CountedStatuses): string {
  const { subscribed, unsubscribed, suppressed, skipped, withoutStatus = 0 } = counts;
  const all: Array<[number, string]> = [
    [subscribed, t("{n} subscribed", { n: formatNumber(subscribed) })],
    [withoutStatus, t("{n} without a status", { n: formatNumber(withoutStatus) })],
    [unsubscribed, t("{n} unsubscribed", { n: formatNumber(unsubscribed) })],
    [suppressed, t("{n} suppressed", { n: formatNumber(suppressed) })],
    [skipped, t("{n} skipped", { n: formatNumber(skipped) })],
  ];
  const shown = all.filter(([count]) => count > 0);
  return (shown.length > 0 ? shown : all.slice(0, 1)).map(([, text]) => text).join(" · ");
}

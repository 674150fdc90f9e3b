// The rates from which a project gets a warning or is disabled, in percent over seven days.
import { t } from "../../text/t.ts";
import { formatPercent } from "../../ui/format.ts";
import type { Limit } from "../../ui/line-chart.tsx";

/** The same values as in the contract of `projects.ownSecurity`. */
export const RATE_LIMITS = {
  bounces: { sevenDay: { warning: 5, critical: 10 }, allTime: { warning: 4, critical: 8 } },
  complaints: { sevenDay: { warning: 0.075, critical: 0.15 }, allTime: { warning: 0.03, critical: 0.12 } },
} as const;

/** Returns the lines of a chart of seven days' rates. */
export function limitLines(of: keyof typeof RATE_LIMITS): Limit[] {
  const { warning, critical } = RATE_LIMITS[of].sevenDay;
  return [
    { label: t("Warning at {rate}", { rate: formatPercent(warning) }), value: warning, tone: "warn" },
    { label: t("Critical at {rate}", { rate: formatPercent(critical) }), value: critical, tone: "bad" },
  ];
}

// Shows the key email figures of a period, compared with the previous period.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { lastDays } from "./period.ts";

/** Returns how a number compares with the period before. */
function change(now: number, before: number, days: number): string {
  if (before === 0) return versus("0", days);
  const share = (now - before) / before;
  if (share === 0) return t("same as the previous {days} days", { days });
  return share > 0
    ? t("+{percent} vs previous {days} days", { percent: formatPercent(share * 100), days })
    : t("−{percent} vs previous {days} days", { percent: formatPercent(-share * 100), days });
}

const versus = (before: string, days: number) =>
  t("vs {before} in the previous {days} days", { before, days });
const rateBefore = (percent: number, days: number) => versus(formatPercent(percent), days);

export function MailTiles({ projectId, days }: { projectId: string; days: number }) {
  const period = lastDays(days);
  const summary = useQuery(query(api.analytics.summary, { projectId, query: period }));
  if (summary.isError) return <Failure error={summary.error} onRetry={() => void summary.refetch()} />;
  if (summary.data === undefined) return <Skeleton className="h-23 rounded-lg" />;
  const { current, previous } = summary.data;
  return (
    <Tiles
      tiles={[
        {
          label: t("Sent"),
          value: formatNumber(current.emails),
          note: change(current.emails, previous.emails, days),
        },
        {
          label: t("Opened"),
          value: formatPercent(current.openRate),
          note: rateBefore(previous.openRate, days),
        },
        {
          label: t("Clicked"),
          value: formatPercent(current.clickRate),
          note: rateBefore(previous.clickRate, days),
        },
        {
          label: t("Bounced"),
          value: formatPercent(current.bounceRate),
          note: rateBefore(previous.bounceRate, days),
        },
        {
          label: t("Complaints"),
          value: formatNumber(current.complaints),
          note: change(current.complaints, previous.complaints, days),
        },
      ]}
    />
  );
}

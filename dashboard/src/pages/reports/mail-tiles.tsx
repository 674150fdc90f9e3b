// Shows the key email figures of a period, compared with the previous period. The chosen one is charted.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { ChoiceTiles, Tiles, type Tile } from "../../ui/tiles.tsx";
import { daysIn, lastDays, type Period } from "./period.ts";
import type { Metric } from "./search.ts";

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

export type MailTile = Tile & { name: Metric };

/** Events are counted about 20 seconds after they happened, and later under load. */
const POLL_EVERY_MS = 10_000;

/** Shows the figures of the last days, and keeps them up to date. */
export function MailTiles({ projectId, days }: { projectId: string; days: number }) {
  return (
    <Summary projectId={projectId} period={lastDays(days)} pollEveryMs={POLL_EVERY_MS}>
      {(tiles) => <Tiles tiles={tiles} />}
    </Summary>
  );
}

interface MetricTilesProps {
  projectId: string;
  period: Period;
  metric: Metric;
  onMetric: (metric: Metric) => void;
}

/** Shows the figures of a period, and chooses the one that the chart shows. */
export function MetricTiles({ projectId, period, metric, onMetric }: MetricTilesProps) {
  return (
    <Summary projectId={projectId} period={period}>
      {(tiles) => (
        <ChoiceTiles label={t("Number in the chart")} value={metric} onChoose={onMetric} tiles={tiles} />
      )}
    </Summary>
  );
}

interface SummaryProps {
  projectId: string;
  period: Period;
  pollEveryMs?: number;
  children: (tiles: MailTile[]) => ReactNode;
}

function Summary({ projectId, period, pollEveryMs, children }: SummaryProps) {
  const days = daysIn(period);
  const summary = useQuery({
    ...query(api.analytics.summary, { projectId, query: period }),
    refetchInterval: pollEveryMs ?? false,
  });
  if (summary.isError && summary.data === undefined)
    return <Failure error={summary.error} onRetry={() => void summary.refetch()} />;
  if (summary.data === undefined) return <Skeleton className="h-23 rounded-lg" />;
  const { current, previous } = summary.data;
  return children([
    {
      name: "sent",
      label: t("Sent"),
      value: formatNumber(current.emails),
      note: change(current.emails, previous.emails, days),
    },
    {
      name: "opened",
      label: t("Opened"),
      value: formatPercent(current.openRate),
      note: rateBefore(previous.openRate, days),
    },
    {
      name: "clicked",
      label: t("Clicked"),
      value: formatPercent(current.clickRate),
      note: rateBefore(previous.clickRate, days),
    },
    {
      name: "bounced",
      label: t("Bounced"),
      value: formatPercent(current.bounceRate),
      note: rateBefore(previous.bounceRate, days),
    },
    {
      name: "complaints",
      label: t("Complaints"),
      value: formatNumber(current.complaints),
      note: change(current.complaints, previous.complaints, days),
    },
  ]);
}

// Charts one number of the email report by day, compared with the period before. Counts and rates never share a scale.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatDate, formatNumber, formatPercent } from "../../ui/format.ts";
import { LineChart, type Series } from "../../ui/line-chart.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { countsOf, rateOf, ratesOf, type Day } from "./metric-values.ts";
import { previousPeriod, type Period } from "./period.ts";
import { limitLines } from "./rate-limits.ts";
import { ReportCard } from "./report-card.tsx";
import type { Metric } from "./search.ts";

const NAMES: Record<Metric, string> = {
  sent: t("Sent"),
  opened: t("Opened"),
  clicked: t("Clicked"),
  bounced: t("Bounced"),
  complaints: t("Complaints"),
};
const TONES: Record<Metric, Series["tone"]> = {
  sent: "accent",
  opened: "good",
  clicked: "warn",
  bounced: "bad",
  complaints: "bad",
};

interface MailChartProps {
  projectId: string;
  period: Period;
  metric: Metric;
}

export function MailChart({ projectId, period, metric }: MailChartProps) {
  const [isRate, setRate] = useState(true);
  const current = useQuery(query(api.analytics.timeseries, { projectId, query: period }));
  const previous = useQuery(query(api.analytics.timeseries, { projectId, query: previousPeriod(period) }));
  const failed = [current, previous].find(({ isError }) => isError);
  return (
    <ReportCard
      title={t("{metric} by day", { metric: NAMES[metric] })}
      projectId={projectId}
      period={period}
      report="timeseries"
      choices={
        metric !== "sent" && (
          <Choices
            label={t("Unit")}
            options={[
              { value: "rate", label: t("Rate") },
              { value: "count", label: t("Count") },
            ]}
            value={isRate ? "rate" : "count"}
            onChoose={(chosen) => setRate(chosen === "rate")}
          />
        )
      }
    >
      {failed !== undefined && <Failure error={failed.error!} onRetry={() => void failed.refetch()} />}
      {failed === undefined && (current.data === undefined || previous.data === undefined) && (
        <Skeleton className="h-60" />
      )}
      {current.data !== undefined && previous.data !== undefined && (
        <Chart
          metric={metric}
          dates={current.data.map(({ date }) => date)}
          days={current.data}
          before={previous.data}
          isRate={isRate && metric !== "sent"}
        />
      )}
    </ReportCard>
  );
}

interface ChartProps {
  metric: Metric;
  dates: readonly string[];
  days: readonly Day[];
  before: readonly Day[];
  isRate: boolean;
}

function Chart({ metric, dates, days, before, isRate }: ChartProps) {
  const hasLimits = isRate && (metric === "bounced" || metric === "complaints");
  const seriesOf = (shown: readonly Day[]) =>
    isRate
      ? { values: ratesOf(metric, shown), total: orDash(rateOf(metric, shown)) }
      : { values: countsOf(metric, shown), total: formatNumber(total(countsOf(metric, shown))) };
  return (
    <LineChart
      label={
        isRate
          ? t("{metric} by day, in percent of sent emails", { metric: NAMES[metric] })
          : t("{metric} by day", { metric: NAMES[metric] })
      }
      head={t("Day")}
      points={dates.map(formatDate)}
      series={[
        { label: NAMES[metric], tone: TONES[metric], ...seriesOf(days) },
        { label: t("Previous period"), tone: "ghost", ...seriesOf(before) },
      ]}
      unit={isRate ? "percent" : "count"}
      hasFile={false}
      limits={hasLimits ? limitLines(metric === "bounced" ? "bounces" : "complaints") : []}
    />
  );
}

const orDash = (rate: number | null) => (rate === null ? "–" : formatPercent(rate));
const total = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0);

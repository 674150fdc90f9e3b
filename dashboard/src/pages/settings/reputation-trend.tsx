// Charts the bounce and complaint rates of seven days over the last month. The limits count by the time of sending, so they are not shown.
import { useQuery } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { formatDate, formatPercent } from "../../ui/format.ts";
import { LineChart } from "../../ui/line-chart.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { ratesOf } from "../reports/metric-values.ts";
import { timeZone, lastDays, withDaysBefore } from "../reports/period.ts";

const SHOWN_DAYS = 30;
/** A rate includes the day and the six before it. */
const DAYS_BEFORE = 6;

type Days = ApiResponse<typeof api.analytics.timeseries>;

export function ReputationTrend({ projectId }: { projectId: string }) {
  const period = withDaysBefore(lastDays(SHOWN_DAYS), DAYS_BEFORE);
  const series = useQuery(query(api.analytics.timeseries, { projectId, query: period }));
  if (series.isError) return <Failure error={series.error} onRetry={() => void series.refetch()} />;
  if (series.data === undefined) return <Skeleton className="h-60" />;
  return (
    <section>
      <h2 className="font-semibold">{t("Trend")}</h2>
      <p className="mb-2 text-sm text-soft">
        {t("Each point covers seven days, {zone}.", { zone: timeZone() })}{" "}
        {t("Bounces and complaints count on the day they arrive.")}
      </p>
      <div className="grid gap-5 lg:grid-cols-2">
        <Trend of="bounces" days={series.data} />
        <Trend of="complaints" days={series.data} />
      </div>
    </section>
  );
}

function Trend({ of, days }: { of: "bounces" | "complaints"; days: Days }) {
  const label = of === "bounces" ? t("Bounce rate") : t("Complaint rate");
  const values = ratesOf(of === "bounces" ? "bounced" : "complaints", days, DAYS_BEFORE).slice(DAYS_BEFORE);
  const last = values.at(-1) ?? null;
  return (
    <Card className="p-5">
      <LineChart
        label={label}
        head={t("Day")}
        points={days.slice(DAYS_BEFORE).map(({ date }) => formatDate(date))}
        series={[{ label, tone: "bad", values, total: last === null ? "–" : formatPercent(last) }]}
        unit="percent"
      />
    </Card>
  );
}

// Shows how many contacts subscribed and unsubscribed per day, and why.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { DayChart } from "../../ui/day-chart.tsx";
import { formatNumber } from "../../ui/format.ts";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { lastDays } from "./period.ts";
import { ReportCard } from "./report-card.tsx";

const total = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0);

export function AudienceReport({ projectId, days }: { projectId: string; days: number }) {
  const period = lastDays(days);
  const audience = useQuery(query(api.analytics.audience, { projectId, query: period }));
  if (audience.isError) return <Failure error={audience.error} onRetry={() => void audience.refetch()} />;
  if (audience.data === undefined) return <Skeleton className="h-80" />;
  const { data } = audience;
  const sumOf = (name: "subscribed" | "unsubscribed" | "byChoice" | "byBounce" | "byComplaint" | "growth") =>
    formatNumber(total(data.map((day) => day[name])));
  return (
    <>
      <Tiles
        tiles={[
          { label: t("Growth"), value: sumOf("growth") },
          { label: t("Subscribed"), value: sumOf("subscribed") },
          { label: t("Unsubscribed themselves"), value: sumOf("byChoice"), note: t("unsubscribed") },
          { label: t("Hard bounces"), value: sumOf("byBounce"), note: t("unsubscribed") },
          { label: t("Complaints"), value: sumOf("byComplaint"), note: t("unsubscribed") },
        ]}
      />
      <ReportCard
        title={t("Per day")}
        about={t("Doesn't count contacts deleted since, or contacts subscribed when added.")}
        projectId={projectId}
        days={days}
        report="audience"
      >
        <DayChart
          label={t("Subscriptions per day")}
          dates={data.map(({ date }) => date)}
          series={[
            { label: t("Subscribed"), tone: "good", values: data.map(({ subscribed }) => subscribed) },
            { label: t("Unsubscribed"), tone: "bad", values: data.map(({ unsubscribed }) => unsubscribed) },
          ]}
        />
      </ReportCard>
    </>
  );
}

// Shows how many contacts were added as subscribed, subscribed and unsubscribed per day, and why.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { formatDate, formatNumber } from "../../ui/format.ts";
import { LineChart } from "../../ui/line-chart.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { timeZone, type Period } from "./period.ts";
import { ReportCard } from "./report-card.tsx";

const total = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0);

export function AudienceReport({ projectId, period }: { projectId: string; period: Period }) {
  const audience = useQuery(query(api.analytics.audience, { projectId, query: period }));
  if (audience.isError) return <Failure error={audience.error} onRetry={() => void audience.refetch()} />;
  if (audience.data === undefined) return <Skeleton className="h-80" />;
  const { data } = audience;
  const sumOf = (name: "added" | "subscribed" | "byChoice" | "byBounce" | "byComplaint" | "growth") => {
    const values = data.map((day) => day[name]);
    return values.includes(null) ? "–" : formatNumber(total(values.map((value) => value ?? 0)));
  };
  const isPartial = data.some(({ added }) => added === null);
  return (
    <>
      <Tiles
        tiles={[
          { label: t("Growth"), value: sumOf("growth") },
          { label: t("Added as subscribed"), value: sumOf("added") },
          { label: t("Subscribed later"), value: sumOf("subscribed") },
          { label: t("Unsubscribed themselves"), value: sumOf("byChoice"), note: t("unsubscribed") },
          { label: t("Hard bounces"), value: sumOf("byBounce"), note: t("unsubscribed") },
          { label: t("Complaints"), value: sumOf("byComplaint"), note: t("unsubscribed") },
        ]}
      />
      {isPartial && (
        <p className="text-sm text-soft">
          {t("Too many contacts were added to count them all. Choose a shorter period.")}
        </p>
      )}
      <ReportCard
        title={t("Per day")}
        about={t("Doesn't count contacts deleted since, {zone}.", { zone: timeZone() })}
        projectId={projectId}
        period={period}
        report="audience"
      >
        <LineChart
          label={t("Subscriptions per day")}
          head={t("Day")}
          hasFile={false}
          points={data.map(({ date }) => formatDate(date))}
          series={[
            { label: t("Added as subscribed"), tone: "accent", values: data.map(({ added }) => added) },
            { label: t("Subscribed later"), tone: "good", values: data.map(({ subscribed }) => subscribed) },
            { label: t("Unsubscribed"), tone: "bad", values: data.map(({ unsubscribed }) => unsubscribed) },
          ]}
        />
      </ReportCard>
    </>
  );
}

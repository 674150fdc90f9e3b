// Charts what happened after a campaign started, by the minute, by the quarter of an hour or by day.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatDate, formatInstant } from "../../ui/format.ts";
import { LineChart } from "../../ui/line-chart.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { timeZone, daysFrom } from "../reports/period.ts";
import type { ReportProps } from "./campaign-queries.ts";

const SHOWN_DAYS = 30;
const POLL_EVERY_MS = 30_000;
/** Hours of each view, or null for days. */
const SPANS = { hours: "3", days: "48", month: null } as const;
type Span = keyof typeof SPANS;

interface ActivityProps extends ReportProps {
  startedAt: string;
}

export function CampaignActivity({ projectId, campaign, startedAt }: ActivityProps) {
  const [span, setSpan] = useState<Span>("hours");
  const hours = SPANS[span];
  return (
    <section>
      <header className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <div>
          <h2 className="font-semibold">{t("Activity over time")}</h2>
          <p className="text-xs text-faint">{t("Times in {zone}", { zone: timeZone() })}</p>
        </div>
        <Choices
          label={t("Activity over time")}
          options={[
            { value: "hours", label: t("First 3 hours") },
            { value: "days", label: t("First 2 days") },
            { value: "month", label: t("By day") },
          ]}
          value={span}
          onChoose={setSpan}
        />
      </header>
      <Card className="p-5">
        {hours === null ? (
          <ByDay projectId={projectId} campaign={campaign} startedAt={startedAt} />
        ) : (
          <FirstHours projectId={projectId} campaign={campaign} hours={hours} />
        )}
      </Card>
    </section>
  );
}

/** Returns whether the last interval has ended, so that the numbers no longer change. Opens are recorded a few seconds later. */
function isOver(data: ApiResponse<typeof api.campaigns.activity> | undefined, hours: number): boolean {
  const last = data?.points.at(-1);
  if (data === undefined || last === undefined || data.points.length * data.stepMinutes < hours * 60)
    return false;
  return Date.now() > Date.parse(last.at) + data.stepMinutes * 60_000 + POLL_EVERY_MS;
}

function FirstHours({ projectId, campaign: { id, status }, hours }: ReportProps & { hours: string }) {
  const activity = useQuery({
    ...query(api.campaigns.activity, { projectId, params: { id }, query: { hours } }, status),
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data } }) => (isOver(data, Number(hours)) ? false : POLL_EVERY_MS),
  });
  if (activity.isError) return <Failure error={activity.error} onRetry={() => void activity.refetch()} />;
  if (activity.data === undefined) return <Skeleton className="h-60" />;
  const { stepMinutes, points } = activity.data;
  return (
    <LineChart
      label={stepMinutes === 1 ? t("Emails per minute") : t("Emails per 15 minutes")}
      head={t("Time")}
      points={points.map(({ at }) => formatInstant(at))}
      series={seriesOf(points.map(({ sent, opens, clicks }) => ({ emails: sent, opens, clicks })))}
    />
  );
}

/** Shows daily numbers from the start of sending, for up to 30 days. */
function ByDay({ projectId, campaign: { id: campaignId, status }, startedAt }: ActivityProps) {
  const period = { ...daysFrom(startedAt, SHOWN_DAYS), campaignId };
  const series = useQuery(query(api.analytics.timeseries, { projectId, query: period }, status));
  if (series.isError) return <Failure error={series.error} onRetry={() => void series.refetch()} />;
  if (series.data === undefined) return <Skeleton className="h-60" />;
  return (
    <LineChart
      label={t("Emails per day")}
      head={t("Day")}
      points={series.data.map(({ date }) => formatDate(date))}
      series={seriesOf(series.data)}
    />
  );
}

function seriesOf(points: ReadonlyArray<Record<"emails" | "opens" | "clicks", number>>) {
  return [
    { label: t("Sent"), tone: "accent" as const, values: points.map(({ emails }) => emails) },
    { label: t("Opened"), tone: "good" as const, values: points.map(({ opens }) => opens) },
    { label: t("Clicked"), tone: "warn" as const, values: points.map(({ clicks }) => clicks) },
  ];
}

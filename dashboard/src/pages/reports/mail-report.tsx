// Shows email statistics as totals, per day, by source and by hour of the week.
import { useQuery } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { MailChart } from "./mail-chart.tsx";
import { MetricTiles } from "./mail-tiles.tsx";
import { KINDS, PROVIDERS } from "./names.ts";
import { timeZone, type Period } from "./period.ts";
import { ReportCard } from "./report-card.tsx";
import type { Breakdown, Metric } from "./search.ts";
import { WeekHours } from "./week-hours.tsx";

interface MailReportProps {
  projectId: string;
  period: Period;
  by: Breakdown;
  onBy: (by: Breakdown) => void;
  metric: Metric;
  onMetric: (metric: Metric) => void;
}

export function MailReport({ projectId, period, by, onBy, metric, onMetric }: MailReportProps) {
  return (
    <>
      <MetricTiles projectId={projectId} period={period} metric={metric} onMetric={onMetric} />
      <MailChart projectId={projectId} period={period} metric={metric} />
      <MailsBy projectId={projectId} period={period} by={by} onBy={onBy} />
      <MailsByHour projectId={projectId} period={period} />
    </>
  );
}

type Row = ApiResponse<typeof api.analytics.breakdown>[number];

function nameOf({ value, name }: Row, by: Breakdown): string {
  if (by === "provider") return PROVIDERS[value] ?? value;
  if (by === "kind") return KINDS[value] ?? value;
  return name ?? t("Deleted");
}

const numberColumn = (key: string, head: string, cell: (row: Row) => string): Column<Row> => ({
  key,
  head,
  width: "w-28",
  align: "end",
  cell,
});

const columnsOf = (by: Breakdown): Column<Row>[] => [
  { key: "name", head: t("Name"), cell: (row) => <bdi>{nameOf(row, by)}</bdi> },
  numberColumn("sent", t("Sent"), ({ emails }) => formatNumber(emails)),
  numberColumn("opened", t("Opened"), ({ openRate }) => formatPercent(openRate)),
  numberColumn("clicked", t("Clicked"), ({ clickRate }) => formatPercent(clickRate)),
  numberColumn("bounced", t("Bounced"), ({ bounceRate }) => formatPercent(bounceRate)),
  numberColumn("soft", t("Soft bounces"), ({ softBounces }) => formatNumber(softBounces)),
  numberColumn("complaints", t("Complaints"), ({ complaints }) => formatNumber(complaints)),
];

function MailsBy({
  projectId,
  period,
  by,
  onBy,
}: Pick<MailReportProps, "projectId" | "period" | "by" | "onBy">) {
  const asked = { ...period, dimension: by };
  const rows = useQuery(query(api.analytics.breakdown, { projectId, query: asked }));
  return (
    <ReportCard
      title={t("Comparison")}
      about={t("Rates are based on emails sent in this period.")}
      projectId={projectId}
      period={period}
      report="breakdown"
      dimension={by}
      choices={
        <Choices
          label={t("Group by")}
          options={[
            { value: "provider", label: t("Provider") },
            { value: "campaign", label: t("Campaign") },
            { value: "template", label: t("Template") },
            { value: "workflow", label: t("Workflow") },
            { value: "kind", label: t("Type") },
          ]}
          value={by}
          onChoose={onBy}
        />
      }
    >
      {rows.isError ? (
        <Failure error={rows.error} onRetry={() => void rows.refetch()} />
      ) : rows.data?.length === 0 ? (
        <p className="text-soft">{t("No emails sent in this period.")}</p>
      ) : (
        <Table
          label={t("Comparison")}
          columns={columnsOf(by)}
          rows={rows.data}
          rowKey={({ value }) => value}
        />
      )}
    </ReportCard>
  );
}

function MailsByHour({ projectId, period }: { projectId: string; period: Period }) {
  const hours = useQuery(query(api.analytics.hours, { projectId, query: period }));
  return (
    <ReportCard
      title={t("Opens by time")}
      about={t("Opens by weekday and hour, {zone}.", { zone: timeZone() })}
      projectId={projectId}
      period={period}
      report="hours"
    >
      {hours.isError && <Failure error={hours.error} onRetry={() => void hours.refetch()} />}
      {hours.isPending && <Skeleton className="h-48" />}
      {hours.data !== undefined && <WeekHours hours={hours.data} />}
    </ReportCard>
  );
}

// Shows the most frequent events, compared with the previous period.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import type { Period } from "./period.ts";
import { ReportCard } from "./report-card.tsx";

type Row = ApiResponse<typeof api.analytics.topEvents>[number];

/** Returns the change with its sign. */
function trendOf(trend: number | null): string {
  if (trend === null) return t("new");
  return `${trend > 0 ? "+" : trend < 0 ? "−" : ""}${formatPercent(Math.abs(trend))}`;
}

export function EventReport({ projectId, period }: { projectId: string; period: Period }) {
  const events = useQuery(query(api.analytics.topEvents, { projectId, query: { ...period, limit: "50" } }));
  const columns: Column<Row>[] = [
    {
      key: "event",
      head: t("Event"),
      cell: ({ name }) => (
        <Link
          to="/$projectId/activity"
          params={{ projectId }}
          search={{ event: name }}
          className="hover:underline"
        >
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    { key: "count", head: t("Count"), width: "w-28", align: "end", cell: ({ count }) => formatNumber(count) },
    {
      key: "before",
      head: t("Previous"),
      width: "w-28",
      align: "end",
      cell: ({ previousCount }) => formatNumber(previousCount),
    },
    { key: "change", head: t("Change"), width: "w-28", align: "end", cell: ({ trend }) => trendOf(trend) },
  ];
  return (
    <ReportCard title={t("Top events")} projectId={projectId} period={period} report="top-events">
      {events.isError ? (
        <Failure error={events.error} onRetry={() => void events.refetch()} />
      ) : events.data?.length === 0 ? (
        <p className="text-soft">{t("No events in this period.")}</p>
      ) : (
        <Table label={t("Top events")} columns={columns} rows={events.data} rowKey={({ name }) => name} />
      )}
    </ReportCard>
  );
}

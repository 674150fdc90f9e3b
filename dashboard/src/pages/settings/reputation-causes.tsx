// Lists the campaigns, workflows and transactional emails behind the bounces and complaints of the last seven days.
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { KINDS } from "../reports/names.ts";
import { lastDays } from "../reports/period.ts";

const SHOWN_DAYS = 7;
const SHOWN_CAUSES = 10;
const DIMENSIONS = ["campaign", "workflow", "kind"] as const;
type Dimension = (typeof DIMENSIONS)[number];
type Cause = ApiResponse<typeof api.analytics.breakdown>[number] & { dimension: Dimension };

export function ReputationCauses({ projectId }: { projectId: string }) {
  const period = lastDays(SHOWN_DAYS);
  const reports = useQueries({
    queries: DIMENSIONS.map((dimension) =>
      query(api.analytics.breakdown, { projectId, query: { ...period, dimension } }),
    ),
  });
  const failed = reports.find(({ isError }) => isError);
  if (failed?.error != null) return <Failure error={failed.error} onRetry={() => void failed.refetch()} />;
  if (reports.some(({ data }) => data === undefined)) return <Skeleton className="h-40" />;
  const causes = reports
    .flatMap(({ data = [] }, at) => data.map((row) => ({ ...row, dimension: DIMENSIONS[at] ?? "kind" })))
    // Email of campaigns and workflows has its own rows.
    .filter(({ dimension, value }) => dimension !== "kind" || value === "TRANSACTIONAL")
    .filter(({ bounces, complaints }) => bounces + complaints > 0)
    .toSorted((one, other) => other.bounces + other.complaints - one.bounces - one.complaints)
    .slice(0, SHOWN_CAUSES);
  return (
    <section>
      <header className="mb-2 flex items-center justify-between gap-3">
        <h2 className="font-semibold">{t("Causes, last 7 days")}</h2>
        {causes.length > 0 && <CsvButton title={t("Causes, last 7 days")} rows={() => fileOf(causes)} />}
      </header>
      <Card className="overflow-hidden">
        {causes.length === 0 ? (
          <p className="p-5 text-sm text-soft">{t("No bounces or complaints in the last 7 days.")}</p>
        ) : (
          <Table
            label={t("Causes, last 7 days")}
            columns={columnsOf(projectId)}
            rows={causes}
            rowKey={({ dimension, value }) => `${dimension} ${value}`}
          />
        )}
      </Card>
    </section>
  );
}

const nameOf = ({ dimension, value, name }: Cause) =>
  dimension === "kind" ? (KINDS[value] ?? value) : (name ?? t("Deleted"));

function CauseLink({ projectId, cause }: { projectId: string; cause: Cause }) {
  const { dimension, value, name } = cause;
  const shown = <bdi>{nameOf(cause)}</bdi>;
  const className = "text-accent hover:underline";
  if (name === null) return shown;
  return dimension === "campaign" ? (
    <Link
      to="/$projectId/campaigns/$campaignId"
      params={{ projectId, campaignId: value }}
      className={className}
    >
      {shown}
    </Link>
  ) : (
    <Link
      to="/$projectId/workflows/$workflowId"
      params={{ projectId, workflowId: value }}
      className={className}
    >
      {shown}
    </Link>
  );
}

const KIND_NAMES: Record<Dimension, string> = {
  campaign: t("Campaign"),
  workflow: t("Workflow"),
  kind: t("Type"),
};

function columnsOf(projectId: string): Array<Column<Cause>> {
  const numbers = (key: string, head: string, cell: (row: Cause) => string): Column<Cause> => ({
    key,
    head,
    width: "w-28",
    align: "end",
    cell,
  });
  return [
    { key: "name", head: t("Name"), cell: (cause) => <CauseLink projectId={projectId} cause={cause} /> },
    { key: "kind", head: t("Kind"), width: "w-28", cell: ({ dimension }) => KIND_NAMES[dimension] },
    numbers("emails", t("Emails"), ({ emails }) => formatNumber(emails)),
    numbers("bounces", t("Hard bounces"), ({ bounces }) => formatNumber(bounces)),
    numbers("bounceRate", t("Bounce rate"), ({ bounceRate }) => formatPercent(bounceRate)),
    numbers("complaints", t("Complaints"), ({ complaints }) => formatNumber(complaints)),
  ];
}

function fileOf(causes: readonly Cause[]) {
  return [
    [t("Name"), t("Kind"), t("Emails"), t("Hard bounces"), `${t("Bounce rate")} (%)`, t("Complaints")],
    ...causes.map((cause) => [
      nameOf(cause),
      KIND_NAMES[cause.dimension],
      cause.emails,
      cause.bounces,
      cause.bounceRate,
      cause.complaints,
    ]),
  ];
}

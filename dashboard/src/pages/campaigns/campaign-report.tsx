// A campaign's report: progress, bounces, clicked links and recipients.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { MailChart } from "../reports/mail-chart.tsx";
import { daysFrom } from "../reports/period.ts";
import { ByProvider } from "./by-provider.tsx";
import type { ReportProps } from "./campaign-queries.ts";
import { PausedDestinations, UnderWay } from "./campaign-under-way.tsx";
import { Leftovers } from "./leftovers.tsx";
import { Recipients } from "./recipients.tsx";
import { SentMail } from "./sent-mail.tsx";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");
const POLL_EVERY_MS = 15_000;
const SHOWN_DAYS = 30;

type Stats = ApiResponse<typeof api.campaigns.stats>;

export function CampaignReport({ projectId, campaign }: ReportProps) {
  const { view = "report" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="flex max-w-5xl flex-col gap-6">
      <UnderWay projectId={projectId} campaign={campaign} />
      <PausedDestinations projectId={projectId} campaign={campaign} />
      <Leftovers projectId={projectId} campaign={campaign} />
      <div>
        <Choices
          look="tabs"
          label={t("Campaign view")}
          options={[
            { value: "report", label: t("Report") },
            { value: "mail", label: t("Email") },
          ]}
          value={view}
          onChoose={(chosen) => void navigate({ search: chosen === "mail" ? { view: chosen } : {} })}
        />
        {view === "mail" ? (
          <SentMail projectId={projectId} campaign={campaign} />
        ) : (
          <Results projectId={projectId} campaign={campaign} />
        )}
      </div>
    </div>
  );
}

function Results({ projectId, campaign: { id, status, pendingCount, startedAt } }: ReportProps) {
  const stats = useQuery({
    ...query(api.campaigns.stats, { projectId, params: { id } }, status, pendingCount),
    placeholderData: (before) => before,
    refetchInterval: POLL_EVERY_MS,
  });
  return (
    <div className="flex flex-col gap-6">
      {stats.isPending && <Skeleton className="h-24" />}
      {stats.isError && <Failure error={stats.error} onRetry={() => void stats.refetch()} />}
      {stats.data !== undefined && (
        <>
          <Numbers stats={stats.data} />
          {startedAt !== null && <ByDay projectId={projectId} campaignId={id} startedAt={startedAt} />}
          <Links links={stats.data.links} />
          {stats.data.sentCount > 0 && (
            <ByProvider projectId={projectId} campaignId={id} stats={stats.data} />
          )}
        </>
      )}
      <Recipients projectId={projectId} campaignId={id} />
    </div>
  );
}

function Numbers({ stats }: { stats: Stats }) {
  return (
    <div>
      <Tiles
        tiles={[
          {
            label: t("Sent"),
            value: formatNumber(stats.sentCount),
            note: t("of {total}", { total: formatNumber(stats.totalRecipients) }),
          },
          {
            label: t("Delivered"),
            value: stats.deliveryRate === null ? "–" : formatPercent(stats.deliveryRate),
            note: stats.deliveryRate === null ? t("Not reported yet") : formatNumber(stats.deliveredCount),
          },
          { label: t("Opened"), value: formatPercent(stats.openRate), note: formatNumber(stats.openedCount) },
          {
            label: t("Clicked"),
            value: formatPercent(stats.clickRate),
            note: formatNumber(stats.clickedCount),
          },
          {
            label: t("Bounced"),
            value: formatPercent(stats.bounceRate),
            note:
              stats.refusedCount === 0
                ? formatNumber(stats.bouncedCount)
                : t("{count}, {refused} rejected immediately", {
                    count: formatNumber(stats.bouncedCount),
                    refused: formatNumber(stats.refusedCount),
                  }),
          },
          {
            label: t("Unsubscribed"),
            value: formatPercent(stats.unsubscribeRate),
            note: formatNumber(stats.unsubscribedCount),
          },
          {
            label: t("Reported as spam"),
            value: formatPercent(stats.complaintRate),
            note: formatNumber(stats.complainedCount),
          },
        ]}
      />
      <p className="mt-2 text-xs text-faint">
        {t("Automatic opens (such as Apple Mail Privacy Protection) are excluded where we can detect them.")}
      </p>
    </div>
  );
}

/** Shows daily numbers from the start of sending, for up to 30 days. Hidden on the first day, because there are no days to compare. */
function ByDay({
  projectId,
  campaignId,
  startedAt,
}: {
  projectId: string;
  campaignId: string;
  startedAt: string;
}) {
  const period = { ...daysFrom(startedAt, SHOWN_DAYS), campaignId };
  const series = useQuery(query(api.analytics.timeseries, { projectId, query: period }));
  if (series.isError) return <Failure error={series.error} onRetry={() => void series.refetch()} />;
  if (series.data === undefined || series.data.length < 2) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Per day")}</h2>
      <Card className="p-5">
        <MailChart days={series.data} />
      </Card>
    </section>
  );
}

type Followed = Stats["links"][number];
const LINKS: Array<Column<Followed>> = [
  { key: "url", head: t("Link"), cell: ({ url }) => <bdi title={url}>{url}</bdi> },
  {
    key: "unique",
    head: t("Recipients"),
    width: "w-28",
    align: "end",
    cell: ({ uniqueClicks }) => formatNumber(uniqueClicks),
  },
  {
    key: "clicks",
    head: t("Clicks"),
    width: "w-24",
    align: "end",
    cell: ({ clicks }) => formatNumber(clicks),
  },
  {
    key: "machines",
    head: t("Automated clicks"),
    width: "w-32",
    align: "end",
    cell: ({ machineClicks }) => <span className="text-faint">{formatNumber(machineClicks)}</span>,
  },
];

function Links({ links }: { links: readonly Followed[] }) {
  if (links.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Links")}</h2>
      <Card className="overflow-hidden">
        <Table label={t("Links")} columns={LINKS} rows={links} rowKey={({ url }) => url} />
      </Card>
    </section>
  );
}

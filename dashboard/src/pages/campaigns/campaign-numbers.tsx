// The key figures of a campaign, compared with the average of earlier campaigns, which are listed below.
import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { formatDay, formatNumber, formatPercent } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import type { Campaign } from "./campaign-queries.ts";

export type Stats = ApiResponse<typeof api.campaigns.stats>;
export type Previous = ApiResponse<typeof api.campaigns.previous>;

const RATES = {
  deliveryRate: t("Delivered"),
  openRate: t("Opened"),
  clickRate: t("Clicked"),
  bounceRate: t("Bounced"),
  unsubscribeRate: t("Unsubscribed"),
  complaintRate: t("Reported as spam"),
};
type Rate = keyof typeof RATES;
const RATE_NAMES = Object.keys(RATES) as Rate[];

export function usePrevious(projectId: string, campaignId: string) {
  return useQuery(query(api.campaigns.previous, { projectId, params: { id: campaignId } }));
}

/** Returns the average rate of campaigns with equal weight, or null if none of them has the rate. */
function averageOf(previous: Previous, rate: Rate): number | null {
  const known = previous.flatMap((one) => one[rate] ?? []);
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length;
}

const orDash = (rate: number | null) => (rate === null ? "–" : formatPercent(rate));

/** @param previous empty while unknown */
export function CampaignNumbers({ stats, previous }: { stats: Stats; previous: Previous }) {
  const withAverage = (note: string, rate: Rate) => {
    const average = averageOf(previous, rate);
    return average === null ? note : t("{note} · average {rate}", { note, rate: formatPercent(average) });
  };
  const tileOf = (rate: Rate, note: string) => ({
    label: RATES[rate],
    value: orDash(stats[rate]),
    note: withAverage(note, rate),
  });
  return (
    <div>
      <Tiles
        tiles={[
          {
            label: t("Sent"),
            value: formatNumber(stats.sentCount),
            note: t("of {total}", { total: formatNumber(stats.totalRecipients) }),
          },
          tileOf(
            "deliveryRate",
            stats.deliveryRate === null ? t("Not reported yet") : formatNumber(stats.deliveredCount),
          ),
          tileOf("openRate", formatNumber(stats.openedCount)),
          tileOf("clickRate", formatNumber(stats.clickedCount)),
          {
            label: t("Clicks per open"),
            value:
              stats.openedCount === 0 ? "–" : formatPercent((100 * stats.clickedCount) / stats.openedCount),
            note: t("Recipients who clicked, of those who opened"),
          },
          tileOf(
            "bounceRate",
            stats.refusedCount === 0
              ? formatNumber(stats.bouncedCount)
              : t("{count}, {refused} rejected immediately", {
                  count: formatNumber(stats.bouncedCount),
                  refused: formatNumber(stats.refusedCount),
                }),
          ),
          tileOf("unsubscribeRate", formatNumber(stats.unsubscribedCount)),
          tileOf("complaintRate", formatNumber(stats.complainedCount)),
        ]}
      />
      <div className="mt-2 flex flex-wrap items-start justify-between gap-2">
        <p className="max-w-160 text-xs text-faint">
          {t(
            "Automatic opens (such as Apple Mail Privacy Protection) are excluded where we can detect them.",
          )}{" "}
          {previous.length > 0 &&
            plural(
              previous.length,
              "The average is that of the previous campaign.",
              "Averages are those of the previous {n} campaigns.",
            )}
        </p>
        <CsvButton title={t("Results")} rows={() => fileOf(stats)} />
      </div>
    </div>
  );
}

function fileOf(stats: Stats) {
  const counts = {
    sentCount: t("Sent"),
    failedCount: t("Failed"),
    skippedCount: t("Skipped"),
    unconfirmedCount: t("Unconfirmed"),
    pendingCount: t("Queued"),
    deliveredCount: t("Delivered"),
    openedCount: t("Opened"),
    clickedCount: t("Clicked"),
    bouncedCount: t("Bounced"),
    unsubscribedCount: t("Unsubscribed"),
    complainedCount: t("Reported as spam"),
  };
  const rateOf = (count: string) => {
    const rates: Partial<Record<string, number | null>> = {
      deliveredCount: stats.deliveryRate,
      openedCount: stats.openRate,
      clickedCount: stats.clickRate,
      bouncedCount: stats.bounceRate,
      unsubscribedCount: stats.unsubscribeRate,
      complainedCount: stats.complaintRate,
    };
    return rates[count] ?? null;
  };
  return [
    [t("Status"), t("Recipients"), t("Percent")],
    ...(Object.keys(counts) as Array<keyof typeof counts>).map((count) => [
      counts[count],
      stats[count],
      rateOf(count),
    ]),
  ];
}

interface Row extends Record<Rate, number | null> {
  id: string;
  name: string;
  startedAt: string | null;
  sentCount: number | null;
  /** Whether the row links to the report of its campaign. */
  isLinked: boolean;
}

interface ComparisonProps {
  projectId: string;
  campaign: Campaign;
  stats: Stats;
  previous: Previous;
}

/** Lists this campaign, the average and the campaigns before. */
export function Comparison({ projectId, campaign, stats, previous }: ComparisonProps) {
  if (previous.length === 0) return null;
  const averages = Object.fromEntries(RATE_NAMES.map((rate) => [rate, averageOf(previous, rate)]));
  const rows: Row[] = [
    { ...stats, id: campaign.id, name: t("This campaign"), startedAt: campaign.startedAt, isLinked: false },
    {
      ...(averages as Record<Rate, number | null>),
      id: "average",
      name: t("Average of the others"),
      startedAt: null,
      sentCount: null,
      isLinked: false,
    },
    ...previous.map((one) => ({ ...one, isLinked: true })),
  ];
  return (
    <section>
      <header className="mb-2 flex items-center justify-between gap-3">
        <h2 className="font-semibold">{t("Previous campaigns")}</h2>
        <CsvButton title={t("Previous campaigns")} rows={() => comparedFile(rows)} />
      </header>
      <Card className="overflow-hidden">
        <Table
          label={t("Previous campaigns")}
          columns={columnsOf(projectId)}
          rows={rows}
          rowKey={({ id }) => id}
        />
      </Card>
    </section>
  );
}

function columnsOf(projectId: string): Array<Column<Row>> {
  return [
    {
      key: "name",
      head: t("Campaign"),
      cell: ({ id, name, isLinked }) =>
        isLinked ? (
          <Link
            to="/$projectId/campaigns/$campaignId"
            params={{ projectId, campaignId: id }}
            className={ROW_LINK}
          >
            <bdi>{name}</bdi>
          </Link>
        ) : (
          <span className="font-semibold">{name}</span>
        ),
    },
    {
      key: "startedAt",
      head: t("Started"),
      width: "w-32",
      cell: ({ startedAt }) => (
        <span className="text-soft tabular-nums">{startedAt === null ? "" : formatDay(startedAt)}</span>
      ),
    },
    {
      key: "sent",
      head: t("Sent"),
      width: "w-24",
      align: "end",
      cell: ({ sentCount }) => (sentCount === null ? "" : formatNumber(sentCount)),
    },
    ...RATE_NAMES.map((rate): Column<Row> => ({
      key: rate,
      head: RATES[rate],
      width: "w-24",
      align: "end",
      cell: (row) => orDash(row[rate]),
    })),
  ];
}

function comparedFile(rows: readonly Row[]) {
  return [
    [t("Campaign"), t("Started"), t("Sent"), ...RATE_NAMES.map((rate) => `${RATES[rate]} (%)`)],
    ...rows.map((row) => [row.name, row.startedAt, row.sentCount, ...RATE_NAMES.map((rate) => row[rate])]),
  ];
}

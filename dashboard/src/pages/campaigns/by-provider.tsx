// Shows a campaign's results by mailbox provider.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { CsvButton } from "../../ui/csv-button.tsx";
import { formatNumber, formatPercent } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { PROVIDERS } from "../reports/names.ts";

/** Above this number of emails, counting is too slow to run without being requested. */
const COUNTED_UNASKED = 50_000;

type Row = ApiResponse<typeof api.campaigns.providers>[number];

const rate = (
  key: Exclude<keyof Row & `${string}Rate`, "deliveryRate">,
  head: string,
  width: string,
): Column<Row> => ({
  key,
  head,
  width,
  align: "end",
  cell: (row) => formatPercent(row[key]),
});
const COLUMNS: Array<Column<Row>> = [
  { key: "provider", head: t("Provider"), cell: ({ provider }) => PROVIDERS[provider] ?? provider },
  {
    key: "sent",
    head: t("Sent"),
    width: "w-24",
    align: "end",
    cell: ({ sentCount }) => formatNumber(sentCount),
  },
  rate("openRate", t("Opened"), "w-24"),
  rate("clickRate", t("Clicked"), "w-24"),
  rate("bounceRate", t("Bounced"), "w-28"),
  rate("complaintRate", t("Complaints"), "w-32"),
];

function fileOf(rows: readonly Row[]) {
  const rates = ["openRate", "clickRate", "bounceRate", "complaintRate"] as const;
  const heads = [t("Opened"), t("Clicked"), t("Bounced"), t("Complaints")];
  return [
    [t("Provider"), t("Sent"), ...heads.map((head) => `${head} (%)`)],
    ...rows.map((row) => [
      PROVIDERS[row.provider] ?? row.provider,
      row.sentCount,
      ...rates.map((name) => row[name]),
    ]),
  ];
}

interface Props {
  projectId: string;
  campaignId: string;
  /** Refetches when one of these counts changes. */
  stats: { sentCount: number; openedCount: number; bouncedCount: number; complainedCount: number };
}

export function ByProvider({ projectId, campaignId, stats }: Props) {
  const { sentCount, openedCount, bouncedCount, complainedCount } = stats;
  const isMany = sentCount > COUNTED_UNASKED;
  const [isAsked, setAsked] = useState(false);
  const providers = useQuery({
    ...query(
      api.campaigns.providers,
      { projectId, params: { id: campaignId } },
      // Counts of large campaigns are fetched on request and not refreshed.
      ...(isMany ? [] : [sentCount, openedCount, bouncedCount, complainedCount]),
    ),
    enabled: !isMany || isAsked,
    placeholderData: (before) => before,
  });
  return (
    <section>
      <header className="mb-2 flex items-center justify-between gap-3">
        <h2 className="font-semibold">{t("By provider")}</h2>
        {providers.data !== undefined && (
          <CsvButton title={t("By provider")} rows={() => fileOf(providers.data)} />
        )}
      </header>
      {providers.isError && <Failure error={providers.error} onRetry={() => void providers.refetch()} />}
      {providers.isLoading && <Skeleton className="h-24" />}
      {isMany && !isAsked && providers.data === undefined && (
        <Card className="flex flex-wrap items-center justify-between gap-3 p-5 text-sm text-soft">
          {t("Counting {count} emails takes a moment.", { count: formatNumber(sentCount) })}
          <Button onClick={() => setAsked(true)}>{t("Get exact count")}</Button>
        </Card>
      )}
      {providers.data !== undefined && (
        <Card className="overflow-hidden">
          <Table
            label={t("By provider")}
            columns={COLUMNS}
            rows={providers.data}
            rowKey={({ provider }) => provider}
          />
        </Card>
      )}
    </section>
  );
}

// Shows the email of a campaign with the clicks on each of its links.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { formatNumber, formatShare } from "../../ui/format.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { usePreview } from "../mail-editor/mail-preview.tsx";
import type { ReportProps } from "./campaign-queries.ts";
import type { Stats } from "./campaign-numbers.tsx";
import { markClicks, type ClickedLink } from "./mark-clicks.ts";

export function ClickMap({ projectId, campaign }: ReportProps) {
  const stats = useQuery(query(api.campaigns.stats, { projectId, params: { id: campaign.id } }));
  const preview = usePreview({ projectId, draft: campaign, kind: campaign.kind }, null);
  const links = stats.data?.links;
  const html = preview.data?.html;
  const marked = useMemo(
    () => (html === undefined || links === undefined ? undefined : markClicks(html, links, labels(links))),
    [html, links],
  );
  if (stats.isError) return <Failure error={stats.error} onRetry={() => void stats.refetch()} />;
  if (links?.length === 0)
    return (
      <Card>
        <Empty title={t("No links")}>{t("This email has no links whose clicks we count.")}</Empty>
      </Card>
    );
  return (
    <div className="flex flex-col gap-6">
      <div>
        <p className="mb-3 text-sm text-soft">
          {t("Each link shows the recipients who clicked it and their share of all link clicks.")}
        </p>
        {preview.isError && <Failure error={preview.error} onRetry={() => void preview.refetch()} />}
        {marked === undefined && !preview.isError && <Skeleton className="h-128 w-full" />}
        {marked !== undefined && (
          <MailFrame
            title={t("Email with clicks")}
            html={marked.html}
            className="h-[70vh] min-h-128 w-full"
          />
        )}
        {marked !== undefined && marked.missing.length > 0 && (
          <p className="mt-2 text-sm text-faint">
            {plural(
              marked.missing.length,
              "{n} link isn't in this preview, because it depends on the recipient. The table lists it.",
              "{n} links aren't in this preview, because they depend on the recipient. The table lists them.",
            )}
          </p>
        )}
      </div>
      {links !== undefined && <Links links={links} />}
    </div>
  );
}

/** Returns a function from a link to its recipients and its share of the clicks of all links. */
function labels(links: readonly ClickedLink[]): (link: ClickedLink) => string {
  const all = links.reduce((sum, { uniqueClicks }) => sum + uniqueClicks, 0);
  return ({ uniqueClicks }) =>
    uniqueClicks === 0
      ? formatNumber(0)
      : `${formatNumber(uniqueClicks)} · ${formatShare(uniqueClicks / all)}`;
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

export function Links({ links }: { links: readonly Followed[] }) {
  if (links.length === 0) return null;
  const rows = () => [
    [t("Link"), t("Recipients"), t("Clicks"), t("Automated clicks")],
    ...links.map(({ url, uniqueClicks, clicks, machineClicks }) => [
      url,
      uniqueClicks,
      clicks,
      machineClicks,
    ]),
  ];
  return (
    <section>
      <header className="mb-2 flex items-center justify-between gap-3">
        <h2 className="font-semibold">{t("Links")}</h2>
        <CsvButton title={t("Links")} rows={rows} />
      </header>
      <Card className="overflow-hidden">
        <Table label={t("Links")} columns={LINKS} rows={links} rowKey={({ url }) => url} />
      </Card>
    </section>
  );
}

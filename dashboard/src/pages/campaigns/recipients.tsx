// Lists a campaign's recipients with the status of each email.
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download } from "lucide-react";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { ApiResponse } from "../../api/address.ts";
import { download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatInstant, formatNumber } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { FILTERED_STATUSES, StatusBadge, STATUSES } from "../emails/statuses.tsx";
import type { ReportProps } from "./campaign-queries.ts";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");
const POLL_EVERY_MS = 5_000;
const COUNT_EVERY_MS = 60_000;
type Recipient = ApiResponse<typeof api.campaigns.recipients>["data"][number];

export function Recipients({ projectId, campaign }: ReportProps) {
  const { id: campaignId, totalRecipients, status: version } = campaign;
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const toast = useToast();
  const asked = { projectId, params: { id: campaignId }, query: status === undefined ? {} : { status } };
  const list = useList(api.campaigns.recipients, asked, { pollEveryMs: POLL_EVERY_MS, version });
  const counts = useQuery({
    ...query(api.campaigns.recipientCounts, { projectId, params: { id: campaignId } }, version),
    placeholderData: (before) => before,
    refetchInterval: COUNT_EVERY_MS,
  });
  const exporting = useMutation({
    mutationFn: () => download(api.campaigns.exportRecipients, asked, "recipients.csv"),
    onError: (error) => toast(t("Couldn't export"), error.message),
  });
  const labelOf = (of: EmailStatus) => {
    const counted = counts.data?.find(({ status: one }) => one === of);
    if (counted === undefined) return STATUSES[of].label;
    return `${STATUSES[of].label} ${formatNumber(counted.count)}${counted.isMore ? "+" : ""}`;
  };
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Recipients")}</h2>
      <div className="mb-3 flex flex-wrap items-start justify-between gap-2">
        <Choices
          label={t("Status")}
          options={[
            { value: "all", label: `${t("All")} ${formatNumber(totalRecipients)}` },
            ...FILTERED_STATUSES.map((value) => ({ value, label: labelOf(value) })),
          ]}
          value={status ?? "all"}
          onChoose={(chosen) =>
            void navigate({ search: chosen === "all" ? {} : { status: chosen }, resetScroll: false })
          }
        />
        <Button look="quiet" busy={exporting.isPending} onClick={() => exporting.mutate()}>
          <Download size={15} aria-hidden /> {t("Export")}
        </Button>
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <Empty title={t("No recipients")}>{t("No recipient has this status.")}</Empty>
          ) : (
            <Table
              label={t("Recipients")}
              columns={columnsOf(projectId)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More
        count={list.total === undefined ? "" : plural(list.total, "{n} recipient", "{n} recipients")}
        list={list}
      />
    </section>
  );
}

function columnsOf(projectId: string): Array<Column<Recipient>> {
  return [
    {
      key: "email",
      head: t("Email address"),
      cell: ({ id, email }) => (
        <Link to="/$projectId/emails/$emailId" params={{ projectId, emailId: id }} className={ROW_LINK}>
          <bdi>{email || t("Data deleted")}</bdi>
        </Link>
      ),
    },
    {
      key: "status",
      head: t("Status"),
      width: "w-36",
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      key: "reason",
      head: t("Reason"),
      cell: ({ reason }) => (
        <span className="text-soft" title={reason ?? undefined}>
          <bdi>{reason}</bdi>
        </span>
      ),
    },
    {
      key: "sentAt",
      head: t("Sent"),
      width: "w-52",
      cell: ({ sentAt }) => (
        <span className="text-soft tabular-nums">{sentAt === null ? "" : formatInstant(sentAt)}</span>
      ),
    },
  ];
}

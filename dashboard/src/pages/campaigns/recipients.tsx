// Lists and searches a campaign's recipients, with the status of each email.
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download } from "lucide-react";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { useList } from "../../api/use-list.ts";
import { reasonText } from "../../text/reason-text.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatInstant, formatNumber } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { FILTERED_STATUSES, StatusBadge, STATUSES } from "../emails/statuses.tsx";
import type { ReportProps } from "./campaign-queries.ts";
import { FoundRecipients, type FoundRecipient } from "./found-recipients.tsx";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");
const POLL_EVERY_MS = 5_000;
const COUNT_EVERY_MS = 60_000;

export function Recipients({ projectId, campaign }: ReportProps) {
  const { status, search } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Recipients")}</h2>
      <div className="mb-3 flex flex-wrap items-start justify-between gap-2">
        <StatusChoices projectId={projectId} campaign={campaign} />
        <SearchBox
          label={t("Find an address")}
          value={search ?? ""}
          onSearch={(text) =>
            void navigate({ search: text === "" ? {} : { search: text }, replace: true, resetScroll: false })
          }
        />
      </div>
      {search === undefined ? (
        <RecipientList projectId={projectId} campaign={campaign} status={status} />
      ) : (
        <FoundRecipients
          projectId={projectId}
          campaign={campaign}
          search={search}
          columns={columnsOf(projectId)}
        />
      )}
    </section>
  );
}

/** Filters by status, and exports what the filter lists. */
function StatusChoices({ projectId, campaign }: ReportProps) {
  const { id: campaignId, totalRecipients, status: version } = campaign;
  const { status, search } = route.useSearch();
  const navigate = route.useNavigate();
  const toast = useToast();
  const counts = useQuery({
    ...query(api.campaigns.recipientCounts, { projectId, params: { id: campaignId } }, version),
    placeholderData: (before) => before,
    refetchInterval: COUNT_EVERY_MS,
  });
  const exporting = useMutation({
    mutationFn: () =>
      download(api.campaigns.exportRecipients, askedOf(projectId, campaignId, status), "recipients.csv"),
    onError: (error) => toast(t("Couldn't export"), error.message),
  });
  const labelOf = (of: EmailStatus) => {
    const counted = counts.data?.find(({ status: one }) => one === of);
    if (counted === undefined) return STATUSES[of].label;
    return `${STATUSES[of].label} ${formatNumber(counted.count)}${counted.isMore ? "+" : ""}`;
  };
  return (
    <>
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
      {search === undefined && (
        <Button look="quiet" busy={exporting.isPending} onClick={() => exporting.mutate()}>
          <Download size={15} aria-hidden /> {t("Export")}
        </Button>
      )}
    </>
  );
}

const askedOf = (projectId: string, campaignId: string, status: EmailStatus | undefined) => ({
  projectId,
  params: { id: campaignId },
  query: status === undefined ? {} : { status },
});

function RecipientList({ projectId, campaign, status }: ReportProps & { status: EmailStatus | undefined }) {
  const list = useList(api.campaigns.recipients, askedOf(projectId, campaign.id, status), {
    pollEveryMs: POLL_EVERY_MS,
    version: campaign.status,
  });
  return (
    <>
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
    </>
  );
}

function columnsOf(projectId: string): Array<Column<FoundRecipient>> {
  return [
    {
      key: "email",
      onPhone: true,
      head: t("Email address"),
      cell: ({ id, email }) => (
        <Link to="/$projectId/emails/$emailId" params={{ projectId, emailId: id }} className={ROW_LINK}>
          <bdi>{email || t("Data deleted")}</bdi>
        </Link>
      ),
    },
    {
      key: "status",
      onPhone: true,
      head: t("Status"),
      width: "w-36",
      cell: ({ status, reason }) => (
        <>
          <StatusBadge status={status} />
          {reason !== null && (
            <span className="block text-xs whitespace-normal text-soft sm:hidden">{reasonText(reason)}</span>
          )}
        </>
      ),
    },
    {
      key: "reason",
      head: t("Reason"),
      cell: ({ reason }) =>
        reason !== null && (
          <span className="text-soft" title={reasonText(reason)}>
            <bdi>{reasonText(reason)}</bdi>
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

// Lists a campaign's recipients with the status of each email.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { FILTERED_STATUSES, StatusBadge, STATUSES } from "../emails/statuses.tsx";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");
const POLL_EVERY_MS = 5_000;
type Recipient = ApiResponse<typeof api.campaigns.recipients>["data"][number];

export function Recipients({ projectId, campaignId }: { projectId: string; campaignId: string }) {
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(
    api.campaigns.recipients,
    { projectId, params: { id: campaignId }, query: status === undefined ? {} : { status } },
    { pollEveryMs: POLL_EVERY_MS },
  );
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Recipients")}</h2>
      <div className="mb-3">
        <Choices
          label={t("Status")}
          options={[
            { value: "all", label: t("All") },
            ...FILTERED_STATUSES.map((value) => ({ value, label: STATUSES[value].label })),
          ]}
          value={status ?? "all"}
          onChoose={(chosen) =>
            void navigate({ search: chosen === "all" ? {} : { status: chosen }, resetScroll: false })
          }
        />
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

// Lists the emails that people sent to the project.
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { z } from "zod";
import type { receivedEmail } from "@postloft/contract/received-emails.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { t } from "../../text/t.ts";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useProject } from "../project-shell.tsx";

type Received = z.output<typeof receivedEmail>;

const route = getRouteApi("/signed-in/$projectId/emails");

export function ReceivedEmails() {
  const { id: projectId, inboundAddress } = useProject();
  const { search } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(api.received.list, {
    projectId,
    query: search === undefined ? {} : { subject: search },
  });
  const columns = useMemo(() => columnsOf(projectId), [projectId]);
  return (
    <>
      <div className="mb-3">
        <SearchBox
          label={t("Search by subject")}
          value={search ?? ""}
          onSearch={(text) =>
            void navigate({
              search: { received: "list", ...(text.trim() === "" ? {} : { search: text }) },
              replace: true,
            })
          }
        />
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <Empty title={search === undefined ? t("No received emails") : t("No results")}>
              {inboundAddress === null
                ? t("Set INBOUND_DOMAIN to receive emails.")
                : t("Emails to {address} appear here.", { address: inboundAddress })}
            </Empty>
          ) : (
            <Table
              label={t("Received emails")}
              columns={columns}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count="" list={list} />
    </>
  );
}

function columnsOf(projectId: string): Array<Column<Received>> {
  return [
    {
      key: "from",
      onPhone: true,
      head: t("From"),
      cell: ({ id, from }) => (
        <Link to="/$projectId/emails" params={{ projectId }} search={{ received: id }} className={ROW_LINK}>
          <bdi>{from.name ?? from.address}</bdi>
        </Link>
      ),
    },
    {
      key: "subject",
      onPhone: true,
      head: t("Subject"),
      cell: ({ subject }) => <bdi>{subject ?? t("No subject")}</bdi>,
    },
    {
      key: "receivedAt",
      head: t("Time"),
      width: "w-46",
      cell: ({ receivedAt }) => (
        <time dateTime={receivedAt} title={formatInstant(receivedAt)} className="text-soft tabular-nums">
          {formatAgo(receivedAt)}
        </time>
      ),
    },
  ];
}

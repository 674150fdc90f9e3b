// Lists the campaigns of a project, newest first.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatAgo, formatInstant, formatNumber, formatShare } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card, Page } from "../../ui/page.tsx";
import { Bar } from "../../ui/progress.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useProject } from "../project-shell.tsx";
import { segmentsQuery } from "../segments/segment-queries.ts";
import { CampaignMenu } from "./campaign-actions.tsx";
import { CampaignThumbnail } from "./campaign-thumbnail.tsx";
import { STATUSES } from "./campaign-queries.ts";
import { NewCampaignDialog } from "./new-campaign-dialog.tsx";
import { readCampaignsSearch } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/campaigns");
const POLL_EVERY_MS = 5_000;
type Listed = ApiResponse<typeof api.campaigns.list>["data"][number];

export function CampaignsPage() {
  const project = useProject();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isAdding, setAdding] = useState(false);
  const list = useList(
    api.campaigns.list,
    { projectId: project.id, query: search },
    { pollEveryMs: POLL_EVERY_MS },
  );
  const { total = 0 } = list;
  return (
    <Page
      title={t("Campaigns")}
      about={t("Send one email to many contacts.")}
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={15} aria-hidden /> {t("New campaign")}
        </Button>
      }
    >
      <Filters />
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <NoCampaigns
              isFiltered={Object.keys(search).length > 0}
              onClear={() => void navigate({ search: {} })}
              onAdd={() => setAdding(true)}
            />
          ) : (
            <Table
              label={t("Campaigns")}
              columns={columnsOf(project.id)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count={total > 0 ? plural(total, "{n} campaign", "{n} campaigns") : ""} list={list} />
      {isAdding && <NewCampaignDialog project={project} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3">
      <SearchBox
        label={t("Search by name")}
        value={search.search ?? ""}
        onSearch={(text) =>
          void navigate({ search: (old) => readCampaignsSearch({ ...old, search: text }), replace: true })
        }
      />
      <Choices
        label={t("Status")}
        options={[
          { value: "all", label: t("All") },
          ...(Object.keys(STATUSES) as CampaignStatus[]).map((value) => ({
            value,
            label: STATUSES[value].label,
          })),
        ]}
        value={search.status ?? "all"}
        onChoose={(status) =>
          void navigate({
            search: (old) => readCampaignsSearch({ ...old, status: status === "all" ? undefined : status }),
          })
        }
      />
    </div>
  );
}

function columnsOf(projectId: string): Array<Column<Listed>> {
  return [
    {
      key: "name",
      onPhone: true,
      head: t("Name"),
      cell: ({ id, name, audienceType, segmentId }) => (
        <CampaignThumbnail projectId={projectId} id={id}>
          <Link
            to="/$projectId/campaigns/$campaignId"
            params={{ projectId, campaignId: id }}
            search={{}}
            className={ROW_LINK}
          >
            <bdi>{name}</bdi>
          </Link>
          <span className="block truncate text-xs text-soft">
            <Audience {...{ projectId, audienceType, segmentId }} />
          </span>
        </CampaignThumbnail>
      ),
    },
    {
      key: "status",
      onPhone: true,
      head: t("Status"),
      width: "w-28",
      cell: ({ status }) => <Badge tone={STATUSES[status].tone}>{STATUSES[status].label}</Badge>,
    },
    { key: "sent", head: t("Sent"), width: "w-32", align: "end", cell: (row) => <Sent row={row} /> },
    {
      key: "opened",
      head: t("Opened"),
      width: "w-24",
      align: "end",
      cell: ({ openedCount, sentCount }) => (sentCount === 0 ? "" : formatShare(openedCount / sentCount)),
    },
    {
      key: "clicked",
      head: t("Clicked"),
      width: "w-24",
      align: "end",
      cell: ({ clickedCount, sentCount }) => (sentCount === 0 ? "" : formatShare(clickedCount / sentCount)),
    },
    {
      key: "when",
      head: t("Time"),
      width: "w-52",
      cell: (row) => <span className="text-soft tabular-nums">{whenOf(row)}</span>,
    },
    {
      key: "actions",
      onPhone: true,
      head: <span className="sr-only">{t("Actions")}</span>,
      width: "w-16",
      align: "end",
      cell: (row) => <CampaignMenu projectId={projectId} campaign={row} />,
    },
  ];
}

/** Names the segment of a campaign. Segments are read once for all rows. */
function Audience({
  projectId,
  audienceType,
  segmentId,
}: Pick<Listed, "audienceType" | "segmentId"> & { projectId: string }) {
  const segments = useQuery({ ...segmentsQuery(projectId), enabled: audienceType === "SEGMENT" });
  if (audienceType === "ALL") return t("Everyone");
  if (audienceType === "FILTERED") return t("Custom filter");
  const name = segments.data?.find(({ id }) => id === segmentId)?.name ?? t("Segment");
  return <bdi title={name}>{name}</bdi>;
}

/** Shows sent and total recipients, with a progress bar while sending. */
function Sent({ row: { name, status, sentCount, totalRecipients, pendingCount } }: { row: Listed }) {
  if (totalRecipients === 0) return null;
  const done = totalRecipients - pendingCount;
  return (
    <>
      {t("{sent} of {total}", { sent: formatNumber(sentCount), total: formatNumber(totalRecipients) })}
      {(status === "SENDING" || status === "PAUSED") && (
        <Bar label={t("Progress of {name}", { name })} share={done / totalRecipients} />
      )}
    </>
  );
}

/** Returns the date that matters for the campaign's status. */
function whenOf({ startedAt, scheduledAt, updatedAt }: Listed): string {
  const at = startedAt ?? scheduledAt;
  return at === null ? t("Updated {when}", { when: formatAgo(updatedAt) }) : formatInstant(at);
}

interface NoCampaignsProps {
  isFiltered: boolean;
  onClear: () => void;
  onAdd: () => void;
}

function NoCampaigns({ isFiltered, onClear, onAdd }: NoCampaignsProps) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching campaigns")}
        action={<Button onClick={onClear}>{t("Clear filters")}</Button>}
      >
        {t("Try a different search or clear the filters.")}
      </Empty>
    );
  return (
    <Empty
      title={t("No campaigns yet")}
      action={
        <Button look="primary" onClick={onAdd}>
          {t("Create your first campaign")}
        </Button>
      }
    >
      {t("Choose an audience, write the email, and send it now or later.")}
    </Empty>
  );
}

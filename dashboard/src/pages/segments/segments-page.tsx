// Lists the segments of a project.
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { formatDay, formatNumber } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card, Page } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { useProject } from "../project-shell.tsx";
import type { Segment } from "./segment-queries.ts";

export function SegmentsPage() {
  const project = useProject();
  const list = useList(api.segments.list, { projectId: project.id });
  const { total = 0 } = list;
  return (
    <Page
      title={t("Segments")}
      about={t("Groups of contacts to use in campaigns and workflows.")}
      actions={<NewLink projectId={project.id} />}
    >
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <Empty title={t("No segments yet")} action={<NewLink projectId={project.id} />}>
              {t("Define rules on contact data, events or email activity. Membership updates automatically.")}
            </Empty>
          ) : (
            <Table
              label={t("Segments")}
              columns={columnsOf(project.id)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count={total > 0 ? plural(total, "{n} segment", "{n} segments") : ""} list={list} />
    </Page>
  );
}

function NewLink({ projectId }: { projectId: string }) {
  return (
    <Link to="/$projectId/segments/new" params={{ projectId }} className={buttonClass("primary")}>
      <Plus size={15} aria-hidden /> {t("New segment")}
    </Link>
  );
}

function columnsOf(projectId: string): Array<Column<Segment>> {
  return [
    {
      key: "name",
      onPhone: true,
      head: t("Name"),
      cell: ({ id, name }) => (
        <Link to="/$projectId/segments/$segmentId" params={{ projectId, segmentId: id }} className={ROW_LINK}>
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    {
      key: "type",
      head: t("Type"),
      width: "w-56",
      cell: ({ type, trackMembership }) => (
        <span className="flex gap-1.5">
          <Badge tone="neutral">{type === "STATIC" ? t("Manual list") : t("Rule-based")}</Badge>
          {trackMembership && <Badge tone="good">{t("Tracked")}</Badge>}
        </span>
      ),
    },
    {
      key: "members",
      onPhone: true,
      head: t("Contacts"),
      width: "w-28",
      align: "end",
      cell: ({ memberCount }) => formatNumber(memberCount),
    },
    {
      key: "createdAt",
      head: t("Created"),
      width: "w-36",
      cell: ({ createdAt }) => <span className="text-soft tabular-nums">{formatDay(createdAt)}</span>,
    },
  ];
}

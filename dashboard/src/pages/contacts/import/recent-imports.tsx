// Lists recent imports, so that their reports and their undo are found again.
import { Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../../api/address.ts";
import { api } from "../../../api/endpoints.ts";
import { useList } from "../../../api/use-list.ts";
import { t } from "../../../text/t.ts";
import { formatInstant, formatNumber } from "../../../ui/format.ts";
import { More } from "../../../ui/more.tsx";
import { Badge, Card, type Tone } from "../../../ui/page.tsx";
import { Failure } from "../../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../../ui/table.tsx";

type Listed = ApiResponse<typeof api.contacts.listImports>["data"][number];

const STATES: Record<Listed["state"], { tone: Tone; label: string }> = {
  waiting: { tone: "neutral", label: t("Waiting") },
  active: { tone: "warn", label: t("Running") },
  completed: { tone: "good", label: t("Completed") },
  failed: { tone: "bad", label: t("Failed") },
};

/** Another member or an API client may import meanwhile. */
const POLL_EVERY_MS = 30_000;

/** Shows nothing in a project without imports. */
export function RecentImports({ projectId }: { projectId: string }) {
  const list = useList(api.contacts.listImports, { projectId }, { pollEveryMs: POLL_EVERY_MS });
  if (list.isError) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  if (list.rows === undefined || list.rows.length === 0) return null;
  return (
    <section className="mt-8">
      <h2 className="font-semibold">{t("Recent imports")}</h2>
      <p className="mt-1 mb-3 text-sm text-soft">{t("Open an import to see its report or to undo it.")}</p>
      <Card className="overflow-hidden">
        <Table
          label={t("Recent imports")}
          columns={columnsOf(projectId)}
          rows={list.rows}
          rowKey={({ jobId }) => jobId}
        />
      </Card>
      <More count="" list={list} />
    </section>
  );
}

function columnsOf(projectId: string): Array<Column<Listed>> {
  return [
    {
      key: "createdAt",
      onPhone: true,
      head: t("Time"),
      cell: ({ jobId, createdAt }) => (
        <Link
          to="/$projectId/contacts/import"
          params={{ projectId }}
          search={{ job: jobId }}
          className={`${ROW_LINK} tabular-nums`}
        >
          {formatInstant(createdAt)}
        </Link>
      ),
    },
    {
      key: "state",
      onPhone: true,
      head: t("Status"),
      width: "w-36",
      cell: ({ state, isUndone }) =>
        isUndone ? (
          <Badge tone="neutral">{t("Undone")}</Badge>
        ) : (
          <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>
        ),
    },
    {
      key: "created",
      head: t("New contacts"),
      width: "w-36",
      align: "end",
      cell: ({ createdCount }) => countText(createdCount),
    },
    {
      key: "updated",
      head: t("Updated"),
      width: "w-32",
      align: "end",
      cell: ({ updatedCount }) => countText(updatedCount),
    },
    {
      key: "failed",
      head: t("Rejected rows"),
      width: "w-36",
      align: "end",
      cell: ({ failureCount }) => countText(failureCount),
    },
  ];
}

const countText = (count: number | null) => (count === null ? "" : formatNumber(count));

// Lists API requests live, with filters by outcome and request id, and opens each in a dialog.
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card, type Tone } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { RequestDialog } from "./request-dialog.tsx";
import type { Outcome } from "../activity/search.ts";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";

type Item = ApiResponse<typeof api.requests.list>["data"][number];

const POLL_EVERY_MS = 5_000;

interface RequestListProps {
  projectId: string;
  outcome: Outcome | undefined;
  requestId: string | undefined;
  onChange: (change: { outcome?: Outcome | undefined; requestId?: string | undefined }) => void;
}

export function RequestList({ projectId, outcome, requestId, onChange }: RequestListProps) {
  const [opened, setOpened] = useState<string | null>(null);
  const list = useList(
    api.requests.list,
    {
      projectId,
      query: {
        ...(outcome === undefined ? {} : { status: outcome }),
        ...(requestId === undefined ? {} : { requestId }),
      },
    },
    { pollEveryMs: POLL_EVERY_MS },
  );
  const isFiltered = outcome !== undefined || requestId !== undefined;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <Choices
          label={t("Result")}
          options={[
            { value: "all", label: t("All") },
            { value: "2xx", label: t("Success") },
            { value: "4xx", label: t("Client error") },
            { value: "5xx", label: t("Server error") },
          ]}
          value={outcome ?? "all"}
          onChoose={(chosen) => onChange({ outcome: chosen === "all" ? undefined : chosen })}
        />
        <SearchBox
          label={t("Request ID")}
          value={requestId ?? ""}
          onSearch={(text) => onChange({ requestId: text.trim() === "" ? undefined : text.trim() })}
        />
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card>
          {list.rows?.length === 0 && !list.hasNextPage ? (
            <Nothing
              isFiltered={isFiltered}
              onClear={() => onChange({ outcome: undefined, requestId: undefined })}
            />
          ) : (
            <Table
              label={t("API requests")}
              columns={columnsOf(setOpened)}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count="" list={list} />
      {opened !== null && <RequestDialog projectId={projectId} id={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

function toneOf(status: number): Tone {
  if (status < 400) return "good";
  return status < 500 ? "warn" : "bad";
}

function columnsOf(open: (id: string) => void): Array<Column<Item>> {
  return [
    {
      key: "status",
      onPhone: true,
      head: t("Status"),
      width: "w-20",
      cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge>,
    },
    {
      key: "request",
      onPhone: true,
      head: t("Request"),
      cell: ({ id, method, path, errorCode }) => (
        <button
          type="button"
          onClick={() => open(id)}
          className={`${ROW_LINK} block w-full truncate text-left`}
        >
          <span className="font-mono text-xs">
            {method} <bdi>{path}</bdi>
          </span>
          {errorCode !== null && <span className="ml-2 text-xs text-faint">{errorCode}</span>}
        </button>
      ),
    },
    {
      key: "ms",
      head: t("Duration"),
      width: "w-24",
      align: "end",
      cell: ({ durationMs }) => `${durationMs} ms`,
    },
    {
      key: "at",
      head: t("Time"),
      width: "w-36",
      align: "end",
      cell: ({ at, leftOut }) => (
        <span
          title={
            leftOut === 0
              ? formatInstant(at)
              : plural(leftOut, "{n} earlier request was left out.", "{n} earlier requests were left out.")
          }
        >
          {formatAgo(at)}
          {leftOut > 0 && " +"}
        </span>
      ),
    },
  ];
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching requests")}
        action={<Button onClick={onClear}>{t("Clear filters")}</Button>}
      >
        {t("No requests in the last seven days match the filter.")}
      </Empty>
    );
  return (
    <Empty title={t("No requests yet")}>
      {t("Requests made with your API keys appear here within seconds. We keep them for seven days.")}
    </Empty>
  );
}

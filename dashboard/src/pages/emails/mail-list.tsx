// Lists a project's emails by status, newest first.
import { Link } from "@tanstack/react-router";
import type { z } from "zod";
import type { email, EmailStatus } from "@postloft/contract/emails.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { STATUSES, StatusBadge } from "./statuses.tsx";

const POLL_EVERY_MS = 10_000;
export type Email = z.output<typeof email>;
/** Statuses in the filter. A claimed email has the same label as a queued one. */
const FILTERED: readonly EmailStatus[] = [
  "QUEUED",
  "SENT",
  "OPENED",
  "CLICKED",
  "BOUNCED",
  "COMPLAINED",
  "FAILED",
  "SKIPPED",
  "UNCONFIRMED",
];

interface MailListProps {
  projectId: string;
  status: EmailStatus | undefined;
  onStatus: (status: EmailStatus | undefined) => void;
}

export function MailList({ projectId, status, onStatus }: MailListProps) {
  const list = useList(
    api.emails.list,
    { projectId, query: status === undefined ? {} : { status } },
    { pollEveryMs: POLL_EVERY_MS },
  );
  return (
    <>
      <div className="mb-3">
        <Choices
          label={t("Status")}
          options={[
            { value: "all", label: t("All") },
            ...FILTERED.map((value) => ({ value, label: STATUSES[value].label })),
          ]}
          value={status ?? "all"}
          onChoose={(chosen) => onStatus(chosen === "all" ? undefined : chosen)}
        />
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 ? (
            <NoMails isFiltered={status !== undefined} onClear={() => onStatus(undefined)} />
          ) : (
            <Table
              label={t("Emails")}
              columns={columnsOf(projectId)}
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

/** The status and time columns at the end of each row. */
export const STATE_AND_TIME: ReadonlyArray<Column<Email>> = [
  {
    key: "status",
    head: t("Status"),
    width: "w-36",
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    key: "createdAt",
    head: t("Time"),
    width: "w-36",
    cell: ({ createdAt }) => (
      <time dateTime={createdAt} title={formatInstant(createdAt)} className="text-soft tabular-nums">
        {formatAgo(createdAt)}
      </time>
    ),
  },
];

function columnsOf(projectId: string): Array<Column<Email>> {
  return [
    {
      key: "to",
      head: t("To"),
      cell: ({ id, to }) => (
        <Link to="/$projectId/emails/$emailId" params={{ projectId, emailId: id }} className={ROW_LINK}>
          <bdi>{to || t("Data deleted")}</bdi>
        </Link>
      ),
    },
    { key: "subject", head: t("Subject"), cell: ({ subject }) => <bdi>{subject}</bdi> },
    ...STATE_AND_TIME,
  ];
}

function NoMails({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching emails")}
        action={<Button onClick={onClear}>{t("Show all emails")}</Button>}
      >
        {t("No email has this status.")}
      </Empty>
    );
  return (
    <Empty title={t("No emails yet")}>
      {t("Every email you send appears here, with the mail server's responses.")}
    </Empty>
  );
}

// Columns of tables that list emails.
import { Link } from "@tanstack/react-router";
import type { z } from "zod";
import type { email } from "@postloft/contract/emails.ts";
import { t } from "../../text/t.ts";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { ROW_LINK, type Column } from "../../ui/table.tsx";
import { KINDS } from "../reports/names.ts";
import { StatusBadge } from "./statuses.tsx";

export type Email = z.output<typeof email>;

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
    width: "w-46",
    cell: ({ createdAt }) => (
      <time dateTime={createdAt} title={formatInstant(createdAt)} className="text-soft tabular-nums">
        {formatAgo(createdAt)}
      </time>
    ),
  },
];

export function columnsOf(projectId: string): Array<Column<Email>> {
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
    {
      key: "kind",
      head: t("Type"),
      width: "w-32",
      cell: ({ kind }) => <span className="text-soft">{KINDS[kind]}</span>,
    },
    ...STATE_AND_TIME,
  ];
}

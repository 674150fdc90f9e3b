// Columns of tables that list emails.
import { Link } from "@tanstack/react-router";
import type { z } from "zod";
import type { email } from "@postloft/contract/emails.ts";
import { t } from "../../text/t.ts";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { ROW_LINK, type Column } from "../../ui/table.tsx";
import { KINDS } from "../reports/names.ts";
import { EmailBadge, isScheduled } from "./statuses.tsx";

export type Email = z.output<typeof email>;

/** The status and time columns at the end of each row. A scheduled email shows its send time. */
export const STATE_AND_TIME: ReadonlyArray<Column<Email>> = [
  {
    key: "status",
    onPhone: true,
    head: t("Status"),
    width: "w-36",
    cell: (email) => <EmailBadge email={email} />,
  },
  {
    key: "createdAt",
    head: t("Time"),
    width: "w-46",
    cell: (email) => {
      const at = (isScheduled(email) && email.scheduledFor) || email.createdAt;
      return (
        <time dateTime={at} title={formatInstant(at)} className="text-soft tabular-nums">
          {formatAgo(at)}
        </time>
      );
    },
  },
];

export function columnsOf(projectId: string): Array<Column<Email>> {
  return [
    {
      key: "to",
      onPhone: true,
      head: t("To"),
      cell: ({ id, to }) => (
        <Link to="/$projectId/emails/$emailId" params={{ projectId, emailId: id }} className={ROW_LINK}>
          <bdi>{to || t("Data deleted")}</bdi>
        </Link>
      ),
    },
    {
      key: "subject",
      head: t("Subject"),
      cell: ({ subject, tags }) => (
        <>
          <bdi>{subject}</bdi>
          {tags.length > 0 && <bdi className="ml-2 text-xs text-faint">{tags.join(", ")}</bdi>}
        </>
      ),
    },
    {
      key: "kind",
      head: t("Type"),
      width: "w-32",
      cell: ({ kind }) => <span className="text-soft">{KINDS[kind]}</span>,
    },
    ...STATE_AND_TIME,
  ];
}

// Lists the emails to a contact with their status, newest first.
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { plural, t } from "../../text/t.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { ROW_LINK, Table, type Column } from "../../ui/table.tsx";
import { STATE_AND_TIME, type Email } from "../emails/email-columns.tsx";

const POLL_EVERY_MS = 10_000;

export function ContactMails({ projectId, id }: { projectId: string; id: string }) {
  const list = useList(
    api.emails.list,
    { projectId, query: { contactId: id } },
    { pollEveryMs: POLL_EVERY_MS },
  );
  const columns = useMemo(() => columnsOf(projectId), [projectId]);
  if (list.isError) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  const total = list.total ?? 0;
  return (
    <>
      <Card className="overflow-hidden">
        {list.rows?.length === 0 ? (
          <Empty title={t("No emails yet")}>{t("Every email you send to this contact appears here.")}</Empty>
        ) : (
          <Table label={t("Emails")} columns={columns} rows={list.rows} rowKey={(mail) => mail.id} />
        )}
      </Card>
      <More count={total === 0 ? "" : plural(total, "{n} email", "{n} emails")} list={list} />
    </>
  );
}

function columnsOf(projectId: string): Array<Column<Email>> {
  return [
    {
      key: "subject",
      head: t("Subject"),
      onPhone: true,
      cell: ({ id, subject, forgottenAt }) => (
        <Link to="/$projectId/emails/$emailId" params={{ projectId, emailId: id }} className={ROW_LINK}>
          <bdi>{subject || (forgottenAt === null ? t("No subject") : t("Data deleted"))}</bdi>
        </Link>
      ),
    },
    ...STATE_AND_TIME,
  ];
}

// Searches the emails of a project. Search and filters are in the URL.
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatDay } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useProject } from "../project-shell.tsx";
import { columnsOf } from "./email-columns.tsx";
import { EmailFilters } from "./email-filters.tsx";
import { useEmails, type EmailsList } from "./email-list.ts";
import { NoEmails } from "./no-emails.tsx";
import { ReceivedEmails } from "./received-emails.tsx";
import { ReceivedPage } from "./received-page.tsx";
import { readEmailsSearch, type EmailsChange } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/emails");

export function EmailsPage() {
  const { received } = route.useSearch();
  if (received !== undefined && received !== "list") return <ReceivedPage id={received} />;
  return (
    <Page title={t("Emails")} about={t("Every email of this project, with its status.")}>
      <Direction isReceived={received !== undefined} />
      {received === undefined ? <SentEmails /> : <ReceivedEmails />}
    </Page>
  );
}

function Direction({ isReceived }: { isReceived: boolean }) {
  const navigate = route.useNavigate();
  return (
    <Choices
      look="tabs"
      label={t("View")}
      options={[
        { value: "sent", label: t("Sent emails") },
        { value: "received", label: t("Received emails") },
      ]}
      value={isReceived ? "received" : "sent"}
      onChoose={(chosen) => void navigate({ search: chosen === "sent" ? {} : { received: "list" } })}
    />
  );
}

function SentEmails() {
  const { id: projectId } = useProject();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useEmails(projectId, search);
  const columns = useMemo(() => columnsOf(projectId), [projectId]);
  const change = (changed: EmailsChange, replace = false) =>
    void navigate({ search: (old) => readEmailsSearch({ ...old, ...changed }), replace });
  const hasNone = list.rows?.length === 0;
  return (
    <>
      <EmailFilters projectId={projectId} search={search} onChange={change} />
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {hasNone && !list.isSearching ? (
            <NoEmails
              projectId={projectId}
              search={search}
              searchedTo={list.searchedTo}
              onClear={() => void navigate({ search: {} })}
            />
          ) : (
            <Table
              label={t("Emails")}
              columns={columns}
              rows={hasNone ? undefined : list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count={<SearchedTo list={list} />} list={list} />
    </>
  );
}

function SearchedTo({ list: { searchedTo, isSearching } }: { list: EmailsList }) {
  if (searchedTo === null) return null;
  const day = formatDay(searchedTo);
  // The day changes several times a second, so screen readers don't announce it.
  if (isSearching)
    return (
      <>
        {t("Still searching…")} <span aria-hidden>{t("back to {day}", { day })}</span>
      </>
    );
  return t("Searched back to {day}.", { day });
}

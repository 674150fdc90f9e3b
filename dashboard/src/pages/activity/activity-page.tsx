// The activity of a project: the feed, API requests and upcoming sends.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { ActivityType } from "@postloft/contract/activity.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { useActivityEvents } from "../../api/follow.ts";
import { useList } from "../../api/use-list.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { More } from "../../ui/more.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { useProject } from "../project-shell.tsx";
import { RequestList } from "../requests/request-list.tsx";
import { ActivityLines } from "./activity-item.tsx";
import { readActivitySearch, type ActivitySearch, type Kind } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/activity");
/** Fallback for clients without a live connection. */
const POLL_EVERY_MS = 30_000;
const TYPES: Record<Kind, ActivityType[]> = {
  mails: [
    "email.sent",
    "email.delivered",
    "email.opened",
    "email.clicked",
    "email.machine-opened",
    "email.machine-clicked",
    "email.bounced",
    "email.complaint",
    "email.received",
    "email.skipped",
  ],
  contacts: ["contact.subscribed", "contact.unsubscribed"],
  events: ["event.triggered"],
  campaigns: ["campaign.sent", "campaign.scheduled"],
  workflows: ["workflow.started", "workflow.completed", "workflow.failed"],
};

/** Updates search parameters in the URL. `undefined` removes a parameter. */
function useSearchChange() {
  const navigate = route.useNavigate();
  return (change: { [Name in keyof ActivitySearch]?: ActivitySearch[Name] | undefined }, replace = false) =>
    void navigate({ search: (old) => readActivitySearch({ ...old, ...change }), replace });
}

export function ActivityPage() {
  const { view, status, outcome, requestId } = route.useSearch();
  const project = useProject();
  const navigate = route.useNavigate();
  const change = useSearchChange();
  // Links of earlier versions.
  if (view === "mails")
    return (
      <Navigate
        to="/$projectId/emails"
        params={{ projectId: project.id }}
        search={status === undefined ? {} : { status }}
        replace
      />
    );
  return (
    <Page title={t("Activity")} about={t("Everything that happened in this project.")}>
      <Choices
        look="tabs"
        label={t("View")}
        options={[
          { value: "feed", label: t("All activity") },
          { value: "upcoming", label: t("Upcoming") },
          { value: "requests", label: t("API requests") },
        ]}
        value={view ?? "feed"}
        onChoose={(chosen) => void navigate({ search: chosen === "feed" ? {} : { view: chosen } })}
      />
      {view === undefined && <Feed />}
      {view === "requests" && (
        <RequestList
          projectId={project.id}
          outcome={outcome}
          requestId={requestId}
          onChange={(asked) => change(asked)}
        />
      )}
      {view === "upcoming" && <Upcoming projectId={project.id} />}
    </Page>
  );
}

function Feed() {
  const project = useProject();
  const { kind, event } = route.useSearch();
  const change = useSearchChange();
  const list = useList(
    api.activity.list,
    {
      projectId: project.id,
      query: {
        ...(kind === undefined ? {} : { type: TYPES[kind].join(",") }),
        ...(event === undefined ? {} : { eventName: event }),
      },
    },
    // Poll only the first page, because refetching all loaded pages is expensive.
    { pollEveryMs: POLL_EVERY_MS },
  );
  const isAtBeginning = (list.data?.pages.length ?? 0) <= 1;
  const { refetch } = list;
  useActivityEvents(
    project.id,
    useCallback(() => {
      if (isAtBeginning) void refetch();
    }, [isAtBeginning, refetch]),
  );
  const isFiltered = kind !== undefined || event !== undefined;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <Choices
          label={t("Type")}
          options={[
            { value: "all", label: t("All") },
            { value: "mails", label: t("Emails") },
            { value: "contacts", label: t("Contacts") },
            { value: "events", label: t("Events") },
            { value: "campaigns", label: t("Campaigns") },
            { value: "workflows", label: t("Workflows") },
          ]}
          value={kind ?? "all"}
          onChoose={(chosen) => change({ kind: chosen === "all" ? undefined : chosen })}
        />
        <SearchBox
          label={t("Search by event name")}
          value={event ?? ""}
          onSearch={(text) => change({ event: text }, true)}
        />
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card>
          {list.rows?.length === 0 && !list.hasNextPage ? (
            <NothingHappened
              isFiltered={isFiltered}
              onClear={() => change({ kind: undefined, event: undefined })}
            />
          ) : (
            <ActivityLines projectId={project.id} items={list.rows} />
          )}
        </Card>
      )}
      <More count="" list={list} />
    </>
  );
}

function NothingHappened({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return (
      <Empty
        title={t("No matching activity")}
        action={<Button onClick={onClear}>{t("Clear filters")}</Button>}
      >
        {t("Try a different filter.")}
      </Empty>
    );
  return (
    <Empty title={t("No activity yet")}>
      {t("Emails, opens, clicks, events and subscription changes appear here live.")}
    </Empty>
  );
}

function Upcoming({ projectId }: { projectId: string }) {
  const upcoming = useQuery(query(api.activity.upcoming, { projectId }));
  if (upcoming.isError) return <Failure error={upcoming.error} onRetry={() => void upcoming.refetch()} />;
  return (
    <Card>
      {upcoming.data?.activities.length === 0 ? (
        <Empty title={t("Nothing scheduled")}>
          {t("Scheduled campaigns and waiting workflows appear here.")}
        </Empty>
      ) : (
        <ActivityLines projectId={projectId} items={upcoming.data?.activities} />
      )}
    </Card>
  );
}

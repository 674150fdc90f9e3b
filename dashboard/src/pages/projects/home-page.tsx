// The project's home page: onboarding steps, email statistics and recent activity.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { useActivityEvents } from "../../api/follow.ts";
import { resourceKey } from "../../api/query-key.ts";
import { type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { ActivityLines } from "../activity/activity-item.tsx";
import { useProject } from "../project-shell.tsx";
import { MailTiles } from "../reports/mail-tiles.tsx";
import { DeliveryCard } from "./delivery-card.tsx";
import { FirstStart } from "./first-start.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { useFirstStart } from "./use-first-start.ts";

const DAYS = 7;
const LATEST = "8";

export function HomePage() {
  const project = useProject();
  return <Home key={project.id} project={project} />;
}

function Home({ project }: { project: Project }) {
  const queries = useQueryClient();
  const start = useFirstStart(project);
  const { isOver } = start;
  const refresh = useCallback(() => {
    void queries.invalidateQueries({ queryKey: latestQuery(project.id).queryKey });
    if (!isOver)
      void queries.invalidateQueries({
        queryKey: resourceKey(api.projects.setupState, { projectId: project.id }),
      });
  }, [queries, project.id, isOver]);
  useActivityEvents(project.id, refresh);
  return (
    <Page title={project.name}>
      <div className="flex flex-col gap-5">
        <NeedsYou project={project} />
        {start.isLoading && <Skeleton className="h-96" />}
        {start.state.isError && (
          <Failure error={start.state.error} onRetry={() => void start.state.refetch()} />
        )}
        {start.isShown && <FirstStart project={project} start={start} />}
        <div>
          <header className="mb-2 flex flex-wrap items-baseline justify-between gap-2">
            <h2 className="font-semibold">{t("Last 7 days")}</h2>
            <Link
              to="/$projectId/reports"
              params={{ projectId: project.id }}
              search={{}}
              className="inline-flex min-h-6 items-center text-sm text-accent hover:underline"
            >
              {t("View reports")}
            </Link>
          </header>
          <MailTiles projectId={project.id} days={DAYS} />
          <p className="mt-2 text-xs text-faint">{t("New emails can take half a minute to appear here.")}</p>
        </div>
        <div className="grid items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
          <DeliveryCard project={project} hasTest={!start.isShown && !start.isLoading} />
          <Latest projectId={project.id} />
        </div>
      </div>
    </Page>
  );
}

const latestQuery = (projectId: string) => query(api.activity.list, { projectId, query: { limit: LATEST } });

/** Shows the latest activity live. */
function Latest({ projectId }: { projectId: string }) {
  const latest = useQuery(latestQuery(projectId));
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-3">
        <h2 className="inline-flex items-center gap-2 font-semibold">
          <span className="size-2 rounded-full bg-good" aria-hidden />
          {t("Live activity")}
        </h2>
        <Link
          to="/$projectId/activity"
          params={{ projectId }}
          search={{}}
          className="inline-flex min-h-6 items-center text-sm text-accent hover:underline"
        >
          {t("View all activity")}
        </Link>
      </header>
      {latest.isError ? (
        <div className="p-4">
          <Failure error={latest.error} onRetry={() => void latest.refetch()} />
        </div>
      ) : latest.data?.data.length === 0 ? (
        <p className="px-4 py-6 text-center text-soft" role="status">
          {t("Your first email or event will appear here.")}
        </p>
      ) : (
        <ActivityLines projectId={projectId} items={latest.data?.data} />
      )}
    </Card>
  );
}

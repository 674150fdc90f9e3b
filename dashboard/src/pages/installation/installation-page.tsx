// The installation page, for instance admins: what runs, what waits, and all projects.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { CallError } from "../../api/call.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { formatBytes, formatInstant, formatNumber } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Tiles, type Tile } from "../../ui/tiles.tsx";
import { BackupsCard } from "./backups-card.tsx";
import { HealthCard } from "./health-card.tsx";
import { installationQuery, type Installation } from "./installation-query.ts";
import { ProjectsCard } from "./projects-card.tsx";
import { QueuesCard, ThrottledDomainsCard, upTo } from "./queues-card.tsx";
import { FactsCard, GrowthCard, StorageCard } from "./storage-card.tsx";
import { TransportsCard } from "./transports-card.tsx";
import { JobsCard, ProcessesCard, SchedulesCard } from "./work-cards.tsx";

const NOT_FOUND = 404;

export function InstallationPage() {
  const installation = useQuery(installationQuery);
  const { data, error } = installation;
  if (error instanceof CallError && error.status === NOT_FOUND) return <NotForYou />;
  return (
    <main id="content" className="min-h-dvh">
      <Page
        title={t("Installation")}
        about={data === undefined ? "" : t("As of {when}", { when: formatInstant(data.at) })}
        actions={
          <>
            <nav aria-label={t("Project")}>
              <Link to="/" className={buttonClass("quiet")}>
                {t("Go to your project")}
              </Link>
            </nav>
            <Button busy={installation.isFetching} onClick={() => void installation.refetch()}>
              <RefreshCw size={14} aria-hidden /> {t("Refresh")}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-5">
          {error !== null && <Failure error={error} onRetry={() => void installation.refetch()} />}
          {data === undefined ? (
            error === null && <Skeleton className="h-96" />
          ) : (
            <Parts installation={data} />
          )}
        </div>
      </Page>
    </main>
  );
}

/** Looks like a page that does not exist. A shared component would be a file of its own in the first load. */
function NotForYou() {
  return (
    <main className="grid min-h-dvh place-items-center">
      <Empty
        title={t("Page not found")}
        action={
          <Link to="/" className={buttonClass("plain")}>
            {t("Go to your project")}
          </Link>
        }
      >
        {t("Check the address, or go back to your project.")}
      </Empty>
    </main>
  );
}

function Parts({ installation }: { installation: Installation }) {
  return (
    <>
      <Tiles tiles={tilesOf(installation)} />
      <HealthCard findings={installation.findings} />
      <TransportsCard transports={installation.transports} readAt={installation.at} />
      <QueuesCard queues={installation.queues} />
      <ThrottledDomainsCard domains={installation.throttledDomains} />
      <ProjectsCard />
      <ProcessesCard processes={installation.processes} />
      <JobsCard jobs={installation.jobs} />
      <SchedulesCard schedules={installation.schedules} />
      <BackupsCard />
      <FactsCard installation={installation} />
      <GrowthCard installation={installation} />
      <StorageCard tables={installation.tables} />
    </>
  );
}

const UNKNOWN = "–";

function tilesOf({ processes, queues, unconfirmed, jobs, schedules, database, disk }: Installation): Tile[] {
  const due = queues?.reduce((sum, queue) => sum + queue.due, 0);
  const late = [...(jobs ?? []), ...(schedules ?? [])].filter(({ isLate }) => isLate).length;
  return [
    {
      label: t("Processes"),
      value: processes === null ? UNKNOWN : formatNumber(processes.filter(({ isAlive }) => isAlive).length),
    },
    { label: t("Due emails"), value: due === undefined ? UNKNOWN : upTo(due) },
    { label: t("Unconfirmed emails"), value: unconfirmed === null ? UNKNOWN : upTo(unconfirmed) },
    {
      label: t("Late jobs and schedules"),
      value: jobs === null || schedules === null ? UNKNOWN : formatNumber(late),
    },
    { label: t("Database size"), value: database === null ? UNKNOWN : formatBytes(database.bytes) },
    { label: t("Free disk space"), value: disk === null ? UNKNOWN : formatBytes(disk.freeBytes) },
  ];
}

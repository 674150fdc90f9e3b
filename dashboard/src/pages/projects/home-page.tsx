// The home of a project: how its mail does, what just happened, what to do next, and the first mail as a snippet with its own key.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { useCallback } from "react";
import { call } from "../../api/call.ts";
import { listActivity } from "../../api/endpoints.ts";
import { useNews } from "../../api/follow.ts";
import { configQuery, setupStateQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { ActivityLines } from "../activity/activity-item.tsx";
import { EXAMPLE_SENDER, NoSender, useSender } from "../domains/sender.tsx";
import { firstMail } from "../keys/snippets.ts";
import { useProject } from "../project-shell.tsx";
import { MailTiles } from "../reports/mail-tiles.tsx";
import { DeliveryCard } from "./delivery-card.tsx";
import { NeedsYou } from "./needs-you.tsx";

const DAYS = 7;
const LATEST = "8";

export function HomePage() {
  const project = useProject();
  const state = useQuery(setupStateQuery(project.id));
  const isSetUp = state.data !== undefined && state.data.contactCount > 0 && state.data.hasVerifiedDomain;
  return (
    <Page title={project.name} about={t("How it goes, and what comes next.")}>
      <div className="flex flex-col gap-5">
        <NeedsYou project={project} />
        <div>
          <header className="mb-2 flex flex-wrap items-baseline justify-between gap-2">
            <h2 className="font-semibold">{t("The last 7 days")}</h2>
            <Link
              to="/$projectId/reports"
              params={{ projectId: project.id }}
              search={{}}
              className="inline-flex min-h-6 items-center text-sm text-accent hover:underline"
            >
              {t("All reports")}
            </Link>
          </header>
          <MailTiles projectId={project.id} days={DAYS} />
        </div>
        <div className="grid items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
          <div className="flex min-w-0 flex-col gap-5">
            {!isSetUp && <NextSteps project={project} />}
            <DeliveryCard project={project} />
          </div>
          <div className="flex min-w-0 flex-col gap-5">
            {!isSetUp && <FirstMail project={project} />}
            <Latest projectId={project.id} />
          </div>
        </div>
      </div>
    </Page>
  );
}

/** What happened last, as it happens. */
function Latest({ projectId }: { projectId: string }) {
  const latest = useQuery({
    queryKey: ["project", projectId, "activity", "latest"],
    queryFn: ({ signal }) => call(listActivity, { projectId, query: { limit: LATEST }, signal }),
  });
  const { refetch } = latest;
  useNews(
    projectId,
    useCallback(() => void refetch(), [refetch]),
  );
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-3">
        <h2 className="inline-flex items-center gap-2 font-semibold">
          <span className="size-2 rounded-full bg-good" aria-hidden />
          {t("Happening now")}
        </h2>
        <Link
          to="/$projectId/activity"
          params={{ projectId }}
          search={{}}
          className="inline-flex min-h-6 items-center text-sm text-accent hover:underline"
        >
          {t("All activity")}
        </Link>
      </header>
      {latest.isError ? (
        <div className="p-4">
          <Failure error={latest.error} onRetry={() => void latest.refetch()} />
        </div>
      ) : latest.data?.data.length === 0 ? (
        <p className="px-4 py-6 text-center text-soft" role="status">
          {t("Waiting for your first mail or event. It appears here by itself.")}
        </p>
      ) : (
        <ActivityLines projectId={projectId} items={latest.data?.data} />
      )}
    </Card>
  );
}

function FirstMail({ project }: { project: Project }) {
  const config = useQuery(configQuery);
  const { domains, sender } = useSender(project);
  return (
    <Card className="p-5">
      <h2 className="font-semibold">{t("Send a mail from your program")}</h2>
      <p className="mt-0.5 mb-4 text-sm text-soft">
        {t("One call; the copy has the secret key of this project in it.")}
      </p>
      {domains.isPending ? (
        <Skeleton className="h-40" />
      ) : (
        <Snippet
          code={firstMail(location.origin, project.secret, sender ?? EXAMPLE_SENDER)}
          secret={project.secret}
          label={t("Copy the command")}
        />
      )}
      {domains.isSuccess && sender === undefined && <NoSender projectId={project.id} />}
      <div className="mt-4 flex flex-wrap gap-2">
        {config.data?.features.email.provider === "mailbox" && (
          <a href="/mailbox" className={buttonClass("plain")}>
            {t("Read it in the mailbox")}
          </a>
        )}
        <Link to="/$projectId/keys" params={{ projectId: project.id }} className={buttonClass("quiet")}>
          {t("More languages")}
        </Link>
      </div>
    </Card>
  );
}

function NextSteps({ project }: { project: Project }) {
  const state = useQuery(setupStateQuery(project.id));
  const provider = useQuery(configQuery).data?.features.email.provider;
  return (
    <Card className="p-5">
      <h2 className="font-semibold">{t("Getting started")}</h2>
      <ol className="mt-3 flex flex-col gap-3.5">
        <Step isDone title={t("Create a project")}>
          {t("Contacts, keys and senders of its own.")}
        </Step>
        {state.isPending && <Skeleton className="h-24" />}
        {state.isError && <Failure error={state.error} onRetry={() => void state.refetch()} />}
        {state.data !== undefined && (
          <>
            <Step isDone={state.data.contactCount > 0} title={t("Add a contact")}>
              <Link
                to="/$projectId/contacts"
                params={{ projectId: project.id }}
                search={{}}
                className="text-accent hover:underline"
              >
                {t("Open contacts")}
              </Link>{" "}
              {t("Or let your program send to somebody new.")}
            </Step>
            <Step isDone={state.data.hasVerifiedDomain} title={t("Have a domain to send from")}>
              {provider === "mailbox" ? (
                <>
                  {t("Mail from your own domain needs its DNS records. Until then send from:")}{" "}
                  <code className="font-mono text-xs">sandbox.localhost</code>
                </>
              ) : (
                <Link
                  to="/$projectId/domains"
                  params={{ projectId: project.id }}
                  className="text-accent hover:underline"
                >
                  {t("Add a domain to send from")}
                </Link>
              )}
            </Step>
          </>
        )}
      </ol>
    </Card>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: React.ReactNode }) {
  return (
    <li className="flex gap-3">
      <span
        className={`mt-0.5 grid size-4.5 shrink-0 place-items-center rounded-full border ${isDone ? "border-transparent bg-good-wash text-good" : "border-line-strong"}`}
      >
        {isDone && <Check size={11} strokeWidth={3} aria-label={t("done")} />}
      </span>
      <div>
        <p className={`font-medium ${isDone ? "text-faint line-through decoration-line-strong" : ""}`}>
          {title}
        </p>
        {!isDone && <p className="text-sm text-soft">{children}</p>}
      </div>
    </li>
  );
}

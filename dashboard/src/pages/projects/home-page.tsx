// The home of a project: what to do next, as far as it has come, and the first mail as a snippet with its own key.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { configQuery, setupStateQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useProject } from "../project-shell.tsx";
import { firstMail } from "../keys/snippets.ts";

export function HomePage() {
  const project = useProject();
  const config = useQuery(configQuery);
  const hasMailbox = config.data?.features.email.provider === "mailbox";
  return (
    <Page title={project.name} about={t("What happens next, and how your program talks to this project.")}>
      {project.disabled && (
        <p role="alert" className="mb-5 rounded-md bg-warn-wash px-3.5 py-2.5 text-sm text-warn">
          {t("This project is disabled: it sends nothing until its owner enables it again.")}
        </p>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <NextSteps project={project} />
        <Card className="p-5">
          <h2 className="font-semibold">{t("Send a mail from your program")}</h2>
          <p className="mt-0.5 mb-4 text-sm text-soft">
            {t("One call; the copy has the secret key of this project in it.")}
          </p>
          <Snippet
            code={firstMail(location.origin, project.secret)}
            secret={project.secret}
            label={t("Copy the command")}
          />
          <div className="mt-4 flex flex-wrap gap-2">
            {hasMailbox && (
              <a href="/mailbox" className={buttonClass("plain")}>
                {t("Read it in the mailbox")}
              </a>
            )}
            <Link to="/$projectId/keys" params={{ projectId: project.id }} className={buttonClass("quiet")}>
              {t("More languages")}
            </Link>
          </div>
        </Card>
      </div>
    </Page>
  );
}

function NextSteps({ project }: { project: Project }) {
  const state = useQuery(setupStateQuery(project.id));
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
              {t("Mail from your own domain needs its DNS records. Until then send from:")}{" "}
              <code className="font-mono text-xs">sandbox.localhost</code>
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

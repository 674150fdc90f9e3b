// Shows one execution: the contact, the input, and every step with its result.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { formatInstant } from "../../../ui/format.ts";
import { Badge, Card, Page } from "../../../ui/page.tsx";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { StatusBadge, STATUSES } from "../../emails/statuses.tsx";
import { useProject } from "../../project-shell.tsx";
import { branchName, STEP_KINDS, stepName } from "../steps/step-kinds.ts";
import { ExecutionActions } from "./execution-actions.tsx";
import { EXECUTION_STATUSES, progressText, RUN_STATUSES, type Execution } from "./execution-status.ts";

const route = getRouteApi("/signed-in/$projectId/workflows/$workflowId/executions/$executionId");
const POLL_EVERY_MS = 5_000;

export function ExecutionPage() {
  const project = useProject();
  const { workflowId, executionId } = route.useParams();
  const execution = useQuery({
    ...query(api.executions.get, { projectId: project.id, params: { id: workflowId, executionId } }),
    refetchInterval: ({ state }) => (state.data?.completedAt == null ? POLL_EVERY_MS : false),
  });
  const { data } = execution;
  return (
    <Page
      title={data?.contact?.email ?? (data === undefined ? t("Execution") : t("Deleted contact"))}
      {...(data === undefined ? {} : { about: data.workflow.name })}
      actions={data !== undefined && <ExecutionActions projectId={project.id} execution={data} />}
    >
      <Link
        to="/$projectId/workflows/$workflowId"
        params={{ projectId: project.id, workflowId }}
        search={{ tab: "executions" }}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All executions")}
      </Link>
      {execution.isPending && <Skeleton className="h-80" />}
      {execution.isError && <Failure error={execution.error} onRetry={() => void execution.refetch()} />}
      {data !== undefined && (
        <div className="flex flex-col gap-6">
          <Facts projectId={project.id} execution={data} />
          <Path projectId={project.id} execution={data} />
          <Data title={t("Input")} value={data.context} />
          <Data title={t("Results for later steps")} value={data.results} />
        </div>
      )}
    </Page>
  );
}

interface ExecutionProps {
  projectId: string;
  execution: Execution;
}

function Facts({ projectId, execution }: ExecutionProps) {
  const { status, startedAt, contactId, version } = execution;
  const progress = progressText(execution);
  return (
    <Card className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3 text-sm">
      <Badge tone={EXECUTION_STATUSES[status].tone}>{EXECUTION_STATUSES[status].label}</Badge>
      {progress !== "" && <span className="wrap-anywhere">{progress}</span>}
      <span className="text-soft">{t("Started {when}", { when: formatInstant(startedAt) })}</span>
      <span className="text-soft">{t("Version {n}", { n: version })}</span>
      {contactId !== null && (
        <Link
          to="/$projectId/contacts/$contactId"
          params={{ projectId, contactId }}
          search={{}}
          className="text-accent hover:underline"
        >
          {t("Open contact")}
        </Link>
      )}
    </Card>
  );
}

function Path({ projectId, execution: { steps, moves } }: ExecutionProps) {
  return (
    <section aria-labelledby="path">
      <h2 id="path" className="mb-2 text-base font-semibold">
        {t("Path")}
      </h2>
      <Card>
        {steps.length === 0 && (
          <p className="px-5 py-4 text-sm text-soft">{t("The first step runs soon.")}</p>
        )}
        <ol className="divide-y divide-line">
          {steps.map((run) => (
            <StepRun key={`${run.stepId} ${run.startedAt}`} projectId={projectId} run={run} />
          ))}
        </ol>
        {moves.map(({ at, fromVersion, toVersion, isUndo }) => (
          <p key={at} className="border-t border-line px-5 py-3 text-sm text-soft">
            {isUndo
              ? t("Moved back from version {from} to {to}: {when}", {
                  from: fromVersion,
                  to: toVersion,
                  when: formatInstant(at),
                })
              : t("Moved from version {from} to {to}: {when}", {
                  from: fromVersion,
                  to: toVersion,
                  when: formatInstant(at),
                })}
          </p>
        ))}
      </Card>
    </section>
  );
}

function StepRun({ projectId, run }: { projectId: string; run: Execution["steps"][number] }) {
  const { type, status, startedAt, completedAt, waitsUntil, branch, output, error, email } = run;
  const { icon: Icon } = STEP_KINDS[type];
  return (
    <li className="px-5 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Icon size={14} className="text-accent" aria-hidden />
        <span className="font-medium wrap-anywhere">{stepName(run)}</span>
        <Badge tone={RUN_STATUSES[status].tone}>{RUN_STATUSES[status].label}</Badge>
        {branch !== null && <Badge tone="neutral">{branchName(type, branch)}</Badge>}
        <time dateTime={startedAt} className="text-soft tabular-nums sm:ml-auto">
          {formatInstant(startedAt)}
        </time>
      </div>
      {completedAt === null && waitsUntil !== null && (
        <p className="mt-1 text-soft">{t("Continues {when}", { when: formatInstant(waitsUntil) })}</p>
      )}
      {error !== null && <p className="mt-1 wrap-anywhere text-bad">{error}</p>}
      {email !== null && (
        <p className="mt-1">
          <Link
            to="/$projectId/emails/$emailId"
            params={{ projectId, emailId: email.id }}
            className="text-accent hover:underline"
          >
            <bdi>{email.subject === "" ? t("Open email") : email.subject}</bdi>
          </Link>{" "}
          {isEmailStatus(email.status) && <StatusBadge status={email.status} />}
        </p>
      )}
      {output !== null && Object.keys(output).length > 0 && (
        <details className="mt-1">
          <summary className="cursor-pointer text-soft hover:text-ink">{t("Output")}</summary>
          <Json value={output} />
        </details>
      )}
    </li>
  );
}

/** An older page may not know a new status. */
function isEmailStatus(status: string): status is EmailStatus {
  return Object.hasOwn(STATUSES, status);
}

function Data({ title, value }: { title: string; value: Readonly<Record<string, unknown>> }) {
  if (Object.keys(value).length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <Card className="px-5 py-3">
        <Json value={value} />
      </Card>
    </section>
  );
}

function Json({ value }: { value: unknown }) {
  return (
    <pre className="mt-1 font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

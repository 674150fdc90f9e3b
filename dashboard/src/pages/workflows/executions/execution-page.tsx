// Shows one execution: the contact, its path on the canvas, and every step with its input and result.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { formatInstant } from "../../../ui/format.ts";
import { Badge, Card, Page } from "../../../ui/page.tsx";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { useProject } from "../../project-shell.tsx";
import { useIsWide } from "../steps/use-is-wide.ts";
import { useNames } from "../steps/use-names.ts";
import { workflowQuery } from "../workflow-queries.ts";
import { ExecutionActions } from "./execution-actions.tsx";
import { ExecutionCanvas } from "./execution-canvas.tsx";
import { EXECUTION_STATUSES, progressText, type Execution } from "./execution-status.ts";
import { Json } from "./json.tsx";
import { RunList } from "./run-list.tsx";
import { SkippedEmails } from "./skipped-emails.tsx";

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
          <SkippedEmails projectId={project.id} execution={data} />
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

/** The canvas of its version with the runs next to it. On a phone, only the runs. */
function Path({ projectId, execution }: ExecutionProps) {
  const { workflowId, version, steps } = execution;
  const isWide = useIsWide();
  const last = steps.length - 1;
  const [chosen, setChosen] = useState<number | null | undefined>(undefined);
  const [focused, setFocused] = useState(0);
  const params = { id: workflowId, version: String(version) };
  const graph = useQuery(query(api.workflows.getVersion, { projectId, params }));
  const workflow = useQuery(workflowQuery(projectId, workflowId));
  const names = useNames(projectId, workflow.data ?? NO_TRIGGER);
  const failure = graph.error ?? workflow.error;
  if (failure !== null) return <Failure error={failure} onRetry={() => void graph.refetch()} />;
  if (graph.data === undefined || workflow.data === undefined || names === null)
    return <Skeleton className="h-80" />;
  const failed = steps[last]?.status === "FAILED" ? last : null;
  const open = chosen === undefined ? failed : chosen;
  const shared = { execution, workflow: workflow.data, names, open };
  return (
    <div className={isWide ? "grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_26rem]" : ""}>
      {isWide && (
        <ExecutionCanvas
          {...shared}
          graph={graph.data}
          onOpen={(place) => {
            setChosen(place);
            setFocused(focused + 1);
          }}
        />
      )}
      <section aria-labelledby="path" className="min-w-0">
        <h2 id="path" className="mb-2 text-base font-semibold">
          {t("Path")}
        </h2>
        <Card className="overflow-hidden">
          {steps.length === 0 && (
            <p className="px-5 py-4 text-sm text-soft">{t("The first step runs soon.")}</p>
          )}
          <RunList
            {...shared}
            projectId={projectId}
            steps={graph.data.steps}
            focused={focused}
            onOpen={setChosen}
          />
          <Moves moves={execution.moves} />
        </Card>
      </section>
    </div>
  );
}

/** Stands for the trigger until the workflow is read. */
const NO_TRIGGER = { triggerType: "MANUAL", triggerConfig: {} } as const;

function Moves({ moves }: Pick<Execution, "moves">) {
  return moves.map(({ at, fromVersion, toVersion, isUndo }) => (
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
  ));
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

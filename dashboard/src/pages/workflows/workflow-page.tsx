// Shows a workflow: its problems, its steps and its executions.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft, Pause, Play, Power } from "lucide-react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatInstant, formatNumber } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Gone, useIsBeingDeleted } from "../gone.tsx";
import { useProject } from "../project-shell.tsx";
import { EditsOf } from "./edits/use-edits.tsx";
import { ExecutionList } from "./executions/execution-list.tsx";
import { MoveNotice } from "./moves/move-notice.tsx";
import { ProblemList } from "./problem-list.tsx";
import { EmailDialogs } from "./steps/email-dialog.tsx";
import { StepsView } from "./steps/steps-view.tsx";
import { triggerText } from "./trigger-text.ts";
import { useSwitch } from "./enable-workflow.tsx";
import { ChangesNotice } from "./versions/changes-notice.tsx";
import { usePausing, WorkflowMenu } from "./workflow-actions.tsx";
import { stepNumbersQuery, workflowQuery, type Workflow } from "./workflow-queries.ts";
import { StateBadge } from "./workflow-state.tsx";
import { useSegmentNames } from "./use-segment-names.ts";

const route = getRouteApi("/signed-in/$projectId/workflows/$workflowId");

export function WorkflowPage() {
  const project = useProject();
  const { workflowId } = route.useParams();
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const workflow = useQuery(workflowQuery(project.id, workflowId));
  const segments = useSegmentNames(project.id);
  const { data } = workflow;
  if (useIsBeingDeleted(workflowId)) return <Gone name={data?.name ?? t("Workflow")} />;
  return (
    <Page
      title={data?.name ?? t("Workflow")}
      {...(data === undefined ? {} : { about: triggerText(data, segments) })}
      actions={data !== undefined && <Actions projectId={project.id} workflow={data} />}
    >
      <Link
        to="/$projectId/workflows"
        params={{ projectId: project.id }}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All workflows")}
      </Link>
      {workflow.isPending && <Skeleton className="h-96" />}
      {workflow.isError && <Failure error={workflow.error} onRetry={() => void workflow.refetch()} />}
      {data !== undefined && (
        <EditsOf key={data.id} projectId={project.id} workflow={data}>
          <Choices
            label={t("Workflow")}
            look="tabs"
            options={[
              { value: "steps", label: t("Steps") },
              {
                value: "executions",
                label:
                  data.failedExecutions === 0
                    ? t("Executions")
                    : t("Executions ({count} failed)", { count: formatNumber(data.failedExecutions) }),
              },
            ]}
            value={tab ?? "steps"}
            onChoose={(chosen) => void navigate({ search: chosen === "executions" ? { tab: chosen } : {} })}
          />
          {tab === "executions" ? (
            <ExecutionList projectId={project.id} workflow={data} />
          ) : (
            <>
              {data.pausedAt !== null && <PausedNotice pausedAt={data.pausedAt} reason={data.pausedReason} />}
              <ChangesNotice key={`changes of ${data.id}`} projectId={project.id} workflow={data} />
              <MoveNotice key={`moves of ${data.id}`} projectId={project.id} workflow={data} />
              <ProblemList projectId={project.id} workflow={data} />
              <EmailDialogs key={data.id} projectId={project.id}>
                <StepsView projectId={project.id} workflow={data} />
              </EmailDialogs>
            </>
          )}
        </EditsOf>
      )}
    </Page>
  );
}

function PausedNotice({ pausedAt, reason }: { pausedAt: string; reason: Workflow["pausedReason"] }) {
  return (
    <div role="status" className="my-4 rounded-lg border border-line bg-hover p-4 text-sm">
      <p className="font-semibold">{t("Paused {time}", { time: formatInstant(pausedAt) })}</p>
      <p className="mt-1 text-soft">
        {reason === null
          ? t("Everyone inside waits. New contacts enter and wait, too.")
          : t("“{step}” failed for {contacts} contacts in a row. Fix the endpoint, then resume.", {
              step: reason.stepName,
              contacts: formatNumber(reason.contacts),
            })}
      </p>
      {reason !== null && <p className="mt-1 text-soft">{reason.error}</p>}
    </div>
  );
}

function Actions({ projectId, workflow }: { projectId: string; workflow: Workflow }) {
  const { enabled } = workflow;
  const { press, isPending, dialog } = useSwitch(projectId, workflow);
  const pausing = usePausing(projectId, workflow);
  const numbers = useQuery(stepNumbersQuery(projectId, workflow.id));
  const isAnyoneInside = numbers.data?.steps.some(({ waiting }) => waiting > 0) === true;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <StateBadge workflow={workflow} />
      <Button look={enabled ? "plain" : "primary"} busy={isPending} onClick={press}>
        {enabled ? <Power size={14} aria-hidden /> : <Play size={14} aria-hidden />}
        {enabled ? t("Disable") : t("Enable")}
      </Button>
      {(enabled || workflow.pausedAt !== null || isAnyoneInside) && (
        <Button busy={pausing.isPending} onClick={() => pausing.mutate()}>
          {workflow.pausedAt === null ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
          {workflow.pausedAt === null ? t("Pause") : t("Resume")}
        </Button>
      )}
      <WorkflowMenu projectId={projectId} workflow={workflow} />
      {dialog}
    </div>
  );
}

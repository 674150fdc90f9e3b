// Lists the failures of a workflow by step and cause, and retries or skips all of one cause.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { reasonText } from "../../../text/reason-text.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { formatAgo, formatInstant, formatNumber } from "../../../ui/format.ts";
import { Card } from "../../../ui/page.tsx";
import { Bar } from "../../../ui/progress.tsx";
import { Failure } from "../../../ui/states.tsx";
import { readWorkflowSearch } from "../search.ts";
import { STEP_KINDS, stepName } from "../steps/step-kinds.ts";
import type { FailureGroup } from "./execution-status.ts";
import { useResuming } from "./use-resuming.ts";

const route = getRouteApi("/signed-in/$projectId/workflows/$workflowId");
const POLL_EVERY_MS = 10_000;
/** Groups before the button that shows all. */
const FIRST_SHOWN = 3;

interface FailureGroupsProps {
  projectId: string;
  workflowId: string;
}

export function FailureGroups({ projectId, workflowId }: FailureGroupsProps) {
  const [showsAll, setShowsAll] = useState(false);
  const failures = useQuery({
    ...query(api.executions.listFailures, { projectId, params: { id: workflowId } }),
    refetchInterval: POLL_EVERY_MS,
  });
  if (failures.isError) return <Failure error={failures.error} onRetry={() => void failures.refetch()} />;
  if (failures.data === undefined || failures.data.data.length === 0) return null;
  const { data: groups, total, countedAt } = failures.data;
  const counted = groups.reduce((sum, { count }) => sum + count, 0);
  const shown = showsAll ? groups : groups.slice(0, FIRST_SHOWN);
  return (
    <section aria-labelledby="failures" className="mb-6">
      <h2 id="failures" className="mb-2 text-base font-semibold">
        {t("Failures by cause")}
      </h2>
      <Card>
        <ul className="divide-y divide-line">
          {shown.map((group) => (
            <li key={`${group.stepId} ${group.cause}`}>
              <Group
                projectId={projectId}
                workflowId={workflowId}
                group={group}
                countedAt={countedAt}
                ungrouped={counted < total ? total : null}
              />
            </li>
          ))}
        </ul>
      </Card>
      {groups.length > shown.length && (
        <Button look="quiet" className="mt-1" onClick={() => setShowsAll(true)}>
          {t("Show all {n} causes", { n: formatNumber(groups.length) })}
        </Button>
      )}
      {counted < total && (
        <p className="mt-2 text-sm text-soft">
          {t("The newest {counted} of {total} failures", {
            counted: formatNumber(counted),
            total: formatNumber(total),
          })}
        </p>
      )}
    </section>
  );
}

interface GroupProps extends FailureGroupsProps {
  group: FailureGroup;
  countedAt: string;
  /** All failures of the workflow if not all were grouped; otherwise null. */
  ungrouped: number | null;
}

function Group({ projectId, workflowId, group, countedAt, ungrouped }: GroupProps) {
  const { stepName: name, stepType: type, error, count, newestAt, example } = group;
  const { icon: Icon } = STEP_KINDS[type];
  return (
    <div className="flex flex-wrap items-start gap-x-6 gap-y-3 px-5 py-3.5 text-sm">
      <div className="min-w-0 flex-1 basis-72">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Icon size={14} className="shrink-0 text-accent" aria-hidden />
          <span className="font-medium wrap-anywhere">{stepName({ name, type })}</span>
          <span className="text-bad tabular-nums">
            {ungrouped === null
              ? plural(count, "{n} failure", "{n} failures")
              : t("At least {n} failures", { n: formatNumber(count) })}
          </span>
        </p>
        <p className="mt-0.5 wrap-anywhere">{error === "" ? t("Unknown error") : reasonText(error)}</p>
        <p className="mt-0.5 text-xs text-soft">
          <time dateTime={newestAt} title={formatInstant(newestAt)}>
            {t("Last failure {ago}", { ago: formatAgo(newestAt) })}
          </time>
          {" · "}
          <Link
            to="/$projectId/workflows/$workflowId/executions/$executionId"
            params={{ projectId, workflowId, executionId: example.executionId }}
            className="wrap-anywhere text-accent underline"
          >
            <bdi>{example.contact?.email ?? t("Deleted contact")}</bdi>
          </Link>
        </p>
      </div>
      <GroupActions
        projectId={projectId}
        workflowId={workflowId}
        group={group}
        countedAt={countedAt}
        ungrouped={ungrouped}
      />
    </div>
  );
}

function GroupActions({ projectId, workflowId, group, countedAt, ungrouped }: GroupProps) {
  const { cause, stepId, count } = group;
  const { cause: shown, at } = route.useSearch();
  const navigate = route.useNavigate();
  const isShown = shown === cause && at === stepId;
  const [isAsking, setAsking] = useState(false);
  const resuming = { projectId, workflowId, group, countedAt, ungrouped };
  const retrying = useResuming({ ...resuming, action: "retryStep" });
  const skipping = useResuming({ ...resuming, action: "skipStep" });
  const isBusy = retrying.isPending || skipping.isPending;
  const resumed = retrying.resumed ?? skipping.resumed;
  const name = stepName({ name: group.stepName, type: group.stepType });
  const show = () =>
    void navigate({
      search: readWorkflowSearch({
        tab: "executions",
        ...(isShown ? {} : { status: "FAILED", at: stepId, cause }),
      }),
      replace: true,
      resetScroll: false,
    });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button className="aria-pressed:bg-press" aria-pressed={isShown} onClick={show}>
        {t("Show")}
      </Button>
      <Button busy={retrying.isPending} disabled={isBusy} onClick={() => retrying.mutate()}>
        {t("Retry all")}
      </Button>
      <Button
        look="quiet"
        busy={skipping.isPending && !isAsking}
        disabled={isBusy}
        onClick={() => setAsking(true)}
      >
        {t("Skip all")}
      </Button>
      {resumed !== null && (
        <div className="basis-full">
          <Bar label={t("Continuing executions")} share={resumed / Math.max(count, resumed)} />
          <p className="mt-1 text-xs text-soft tabular-nums">
            {t("{done} of {total}", {
              done: formatNumber(resumed),
              total: formatNumber(Math.max(count, resumed)),
            })}
          </p>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog
          title={
            ungrouped === null
              ? plural(count, "Skip “{step}” for {n} contact?", "Skip “{step}” for {n} contacts?", {
                  step: name,
                })
              : t("Skip “{step}” for all contacts with this failure?", { step: name })
          }
          description={t("They continue with the next step. You can't undo this.")}
          action={t("Skip step")}
          look="primary"
          doing={{
            ...skipping,
            mutate: () => skipping.mutate(undefined, { onSettled: () => setAsking(false) }),
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}

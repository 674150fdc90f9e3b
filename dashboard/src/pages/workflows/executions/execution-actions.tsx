// Retries, skips and cancels executions, one or many at a time.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toasts.tsx";
import { invalidateWorkflows } from "../workflow-queries.ts";
import type { ListedExecution } from "./execution-status.ts";

/** Runs an action, refetches, and shows what happened. */
function useAction(projectId: string, act: () => Promise<string>) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: act,
    onSuccess: (said) => toast(said),
    onError: (error) => toast(t("That didn't work"), error.message),
    onSettled: () => invalidateWorkflows(queries, projectId),
  });
}

interface ExecutionActionsProps {
  projectId: string;
  execution: ListedExecution;
}

export function ExecutionActions({
  projectId,
  execution: { id, workflowId, status },
}: ExecutionActionsProps) {
  const [isCanceling, setCanceling] = useState(false);
  const params = { id: workflowId, executionId: id };
  const retrying = useAction(projectId, async () => {
    await call(api.executions.retry, { projectId, params });
    return t("Retrying the step");
  });
  const skipping = useAction(projectId, async () => {
    await call(api.executions.skip, { projectId, params });
    return t("Step skipped");
  });
  const canceling = useAction(projectId, async () => {
    await call(api.executions.cancel, { projectId, params });
    return t("Execution canceled");
  });
  if (status === "FAILED")
    return (
      <>
        <Button look="primary" busy={retrying.isPending} onClick={() => retrying.mutate()}>
          {t("Retry step")}
        </Button>
        <Button busy={skipping.isPending} onClick={() => skipping.mutate()}>
          {t("Skip step")}
        </Button>
      </>
    );
  if (status !== "RUNNING" && status !== "WAITING") return null;
  return (
    <>
      <Button onClick={() => setCanceling(true)}>{t("Cancel execution")}</Button>
      {isCanceling && (
        <ConfirmDialog
          title={t("Cancel this execution?")}
          description={t("No further step runs for this contact. Emails already queued are still sent.")}
          action={t("Cancel execution")}
          keep={t("Keep running")}
          doing={{
            ...canceling,
            mutate: () => canceling.mutate(undefined, { onSuccess: () => setCanceling(false) }),
          }}
          onClose={() => setCanceling(false)}
        />
      )}
    </>
  );
}

interface ManyProps {
  projectId: string;
  workflowId: string;
}

export function CancelAllButton({ projectId, workflowId: id }: ManyProps) {
  const [isAsking, setAsking] = useState(false);
  const canceling = useAction(projectId, async () => {
    const { cancelled } = await call(api.executions.cancelAll, { projectId, params: { id } });
    return plural(cancelled, "{n} execution canceled", "{n} executions canceled");
  });
  return (
    <>
      <Button look="quiet" onClick={() => setAsking(true)}>
        {t("Cancel all")}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t("Cancel all executions?")}
          description={t("Everyone inside leaves the workflow now. Emails already queued are still sent.")}
          action={t("Cancel all")}
          keep={t("Keep running")}
          doing={{
            ...canceling,
            mutate: () => canceling.mutate(undefined, { onSuccess: () => setAsking(false) }),
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Retries or skips a step for all executions that failed there. */
export function FailedStepActions({ projectId, workflowId: id, stepId }: ManyProps & { stepId: string }) {
  const params = { id, stepId };
  const retrying = useAction(projectId, async () => {
    const { count } = await call(api.executions.retryStep, { projectId, params });
    return plural(count, "{n} execution continues", "{n} executions continue");
  });
  const skipping = useAction(projectId, async () => {
    const { count } = await call(api.executions.skipStep, { projectId, params });
    return plural(count, "{n} execution continues", "{n} executions continue");
  });
  return (
    <>
      <Button busy={retrying.isPending} onClick={() => retrying.mutate()}>
        {t("Retry all that failed here")}
      </Button>
      <Button look="quiet" busy={skipping.isPending} onClick={() => skipping.mutate()}>
        {t("Skip this step for them")}
      </Button>
    </>
  );
}

// Enables and disables workflows. Asks whether current members of a segment should enter too.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, CallError } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { invalidateWorkflows, workflowQuery, type ListedWorkflow } from "./workflow-queries.ts";

/** The properties the actions need, which rows of the list also have. */
export interface WorkflowToChange extends Pick<
  ListedWorkflow,
  "id" | "name" | "folder" | "tags" | "enabled" | "pausedAt" | "triggerType"
> {
  /** Missing in rows of the list. */
  currentMembers?: number | null;
}

function useSwitching(projectId: string, { id, name, enabled }: WorkflowToChange) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return useMutation({
    mutationFn: ({ includeMembers }: { includeMembers: boolean }) => {
      const body = { enabled: !enabled, ...(includeMembers ? { includeMembers } : {}) };
      return call(api.workflows.update, { projectId, params: { id }, body });
    },
    onSuccess: (_workflow, { includeMembers }) => {
      if (enabled) toast(t("“{name}” disabled", { name }), t("No one new enters. People inside continue."));
      else if (includeMembers)
        toast(t("“{name}” enabled", { name }), t("The current members enter within minutes."));
      else toast(t("“{name}” enabled", { name }));
    },
    onError: (error) =>
      toast(t("Couldn't change “{name}”", { name }), {
        description:
          error instanceof CallError && error.fields.length > 0
            ? t("Fix its problems first.")
            : error.message,
        action: {
          label: t("Open workflow"),
          run: () =>
            void navigate({
              to: "/$projectId/workflows/$workflowId",
              params: { projectId, workflowId: id },
              search: {},
            }),
        },
      }),
    onSettled: () => invalidateWorkflows(queries, projectId),
  });
}

/** Returns a function that enables or disables the workflow, and a dialog to render, which asks about current members. */
export function useSwitch(projectId: string, workflow: WorkflowToChange) {
  const switching = useSwitching(projectId, workflow);
  const [isAsking, setAsking] = useState(false);
  const { enabled, triggerType, currentMembers } = workflow;
  const needsChoice = !enabled && triggerType === "SEGMENT_ENTRY" && currentMembers !== 0;
  return {
    isPending: switching.isPending,
    press: () => (needsChoice ? setAsking(true) : switching.mutate({ includeMembers: false })),
    dialog: isAsking && (
      <EnableDialog
        projectId={projectId}
        workflow={workflow}
        isBusy={switching.isPending}
        onEnable={(includeMembers) =>
          switching.mutate({ includeMembers }, { onSettled: () => setAsking(false) })
        }
        onClose={() => setAsking(false)}
      />
    ),
  };
}

interface EnableDialogProps {
  projectId: string;
  workflow: WorkflowToChange;
  isBusy: boolean;
  onEnable: (includeMembers: boolean) => void;
  onClose: () => void;
}

function EnableDialog({ projectId, workflow, isBusy, onEnable, onClose }: EnableDialogProps) {
  const read = useQuery(workflowQuery(projectId, workflow.id));
  const [includesMembers, setIncludesMembers] = useState(false);
  const members = read.data?.currentMembers ?? 0;
  return (
    <Dialog title={t("Enable “{name}”", { name: workflow.name })} open onClose={onClose}>
      {read.isPending && <Skeleton className="h-16" />}
      {read.isError && <Failure error={read.error} onRetry={() => void read.refetch()} />}
      {read.isSuccess && members === 0 && (
        <p className="text-soft">{t("The segment is empty now. People enter when they join.")}</p>
      )}
      {members > 0 && (
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1.5 text-sm font-medium">{t("Who enters?")}</legend>
          {[false, true].map((value) => (
            <label key={String(value)} className="flex cursor-pointer items-center gap-2.5 text-sm">
              <input
                type="radio"
                name="include-members"
                checked={includesMembers === value}
                onChange={() => setIncludesMembers(value)}
                className="accent-accent-fill"
              />
              {value
                ? plural(members, "Also the {n} current member", "Also the {n} current members")
                : t("Only people who join from now on")}
            </label>
          ))}
        </fieldset>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          busy={isBusy}
          disabled={!read.isSuccess}
          onClick={() => onEnable(includesMembers && members > 0)}
        >
          {t("Enable")}
        </Button>
      </div>
    </Dialog>
  );
}

// Compares two versions of a workflow, the current one and the one before it unless others are chosen, and restores an earlier one.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Select } from "../../../ui/field.tsx";
import { formatInstant } from "../../../ui/format.ts";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { useToast } from "../../../ui/toasts.tsx";
import { invalidateWorkflows, workflowQuery, type Workflow } from "../workflow-queries.ts";
import { ChangesList } from "./changes-list.tsx";
import { versionsQuery, type Version } from "./version-queries.ts";

interface VersionsDialogProps {
  projectId: string;
  workflowId: string;
  /** The earlier version; the one before the current one unless given. */
  from?: number | undefined;
  onClose: () => void;
}

export function VersionsDialog({ projectId, workflowId, from, onClose }: VersionsDialogProps) {
  const [chosen, setChosen] = useState<{ from?: number; to?: number }>({});
  const workflow = useQuery(workflowQuery(projectId, workflowId));
  const versions = useQuery(versionsQuery(projectId, workflowId, workflow.data?.revision));
  const failure = workflow.error ?? versions.error;
  const listed = versions.data?.data ?? [];
  const to = chosen.to ?? listed[0]?.version;
  const earlier = chosen.from ?? from ?? listed[1]?.version;
  const choose = (name: "from" | "to") => (
    <Select
      label={name === "from" ? t("Earlier version") : t("Later version")}
      options={listed.map((one) => ({ value: String(one.version), label: labelOf(one) }))}
      value={String(name === "from" ? earlier : to)}
      onChange={({ target }) => setChosen({ ...chosen, [name]: Number(target.value) })}
    />
  );
  return (
    <Dialog title={t("Changes between versions")} open onClose={onClose}>
      {failure !== null && <Failure error={failure} onRetry={() => void versions.refetch()} />}
      {failure === null && (workflow.data === undefined || versions.data === undefined) && (
        <Skeleton className="h-40" />
      )}
      {listed.length === 1 && <p className="text-sm text-soft">{t("No earlier versions yet.")}</p>}
      {workflow.data !== undefined && to !== undefined && earlier !== undefined && (
        <>
          <div className="mb-5 grid gap-3 sm:grid-cols-2">
            {choose("from")}
            {choose("to")}
          </div>
          <ChangesList projectId={projectId} workflow={workflow.data} from={earlier} to={to} />
        </>
      )}
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        {workflow.data !== undefined && earlier !== undefined && earlier !== workflow.data.version && (
          <Restore projectId={projectId} workflow={workflow.data} version={earlier} onDone={onClose} />
        )}
        <Button onClick={onClose}>{t("Close")}</Button>
      </div>
    </Dialog>
  );
}

interface RestoreProps {
  projectId: string;
  workflow: Workflow;
  version: number;
  onDone: () => void;
}

/** Restores a version, with an undo that fails if someone edited the workflow since. */
function Restore({ projectId, workflow: { id, revision }, version, onDone }: RestoreProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const params = { id };
  const undo = (expectedRevision: number) =>
    call(api.workflows.undo, { projectId, params, body: { revision, expectedRevision } })
      .catch((error: Error) => toast(t("Couldn't undo"), error.message))
      .finally(() => void invalidateWorkflows(queries, projectId));
  const restoring = useMutation({
    mutationFn: () =>
      call(api.workflows.restoreVersion, { projectId, params: { id, version: String(version) } }),
    onSuccess: async (restored) => {
      await invalidateWorkflows(queries, projectId);
      onDone();
      toast(t("Version {n} restored", { n: version }), {
        action: { label: t("Undo"), run: () => void undo(restored.revision) },
      });
    },
  });
  return (
    <>
      {restoring.isError && (
        <div className="w-full">
          <Failure error={restoring.error} />
        </div>
      )}
      <Button look="quiet" busy={restoring.isPending} onClick={() => restoring.mutate()}>
        {t("Restore version {n}", { n: version })}
      </Button>
    </>
  );
}

function labelOf({ version, isCurrent, createdAt, activeExecutions }: Version): string {
  const parts = [
    isCurrent ? t("Version {n} (current)", { n: version }) : t("Version {n}", { n: version }),
    formatInstant(createdAt),
    ...(activeExecutions === 0 ? [] : [plural(activeExecutions, "{n} person inside", "{n} people inside")]),
  ];
  return parts.join(" · ");
}

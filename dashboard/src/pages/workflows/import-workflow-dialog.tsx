// Creates a disabled workflow from an exported file, and opens it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState, type FormEvent } from "react";
import type { WorkflowExport } from "@postloft/contract/workflows/versions.ts";
import { call, CallError } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { invalidateWorkflows } from "./workflow-queries.ts";

/** @throws CallError if the file is not JSON; the server checks everything else */
async function readExport(file: File): Promise<WorkflowExport> {
  try {
    return JSON.parse(await file.text()) as WorkflowExport;
  } catch {
    throw new CallError(
      t("This file isn't a workflow export. Choose a file from “Export” in a workflow's menu."),
    );
  }
}

export function ImportWorkflowDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [file, setFile] = useState<File>();
  const [allowMissing, setAllowMissing] = useState(false);
  const fileId = useId();
  const importing = useMutation({
    mutationFn: async (chosen: File) =>
      call(api.workflows.import, {
        projectId,
        query: { allowMissing: allowMissing ? "true" : "false" },
        body: await readExport(chosen),
      }),
    onSuccess: async ({ id }) => {
      await invalidateWorkflows(queries, projectId);
      const params = { projectId, workflowId: id };
      await navigate({ to: "/$projectId/workflows/$workflowId", params, search: {} });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file !== undefined) importing.mutate(file);
  };
  return (
    <Dialog
      title={t("Import workflow")}
      description={t("The new workflow is disabled until you enable it.")}
      open
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {importing.isError && <Failure error={importing.error} />}
        <div className="flex flex-col gap-1.5">
          <label htmlFor={fileId} className="text-sm font-medium">
            {t("File")}
          </label>
          <input
            id={fileId}
            type="file"
            accept=".json,application/json"
            onChange={({ target }) => setFile(target.files?.[0])}
            className="w-full text-sm"
          />
        </div>
        <Checkbox
          label={t("Import without missing templates and segments")}
          help={t("You choose others in the workflow.")}
          checked={allowMissing}
          onChange={({ target }) => setAllowMissing(target.checked)}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={importing.isPending} disabled={file === undefined}>
            {t("Import workflow")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

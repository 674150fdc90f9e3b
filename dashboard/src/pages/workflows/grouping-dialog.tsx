// Sets the folder and tags of a workflow. Both exist while a workflow has them.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState, type FormEvent } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call, CallError } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { groupsQuery, invalidateWorkflows, type ListedWorkflow } from "./workflow-queries.ts";

interface GroupingDialogProps {
  projectId: string;
  workflow: Pick<ListedWorkflow, "id" | "name" | "folder" | "tags">;
  onClose: () => void;
}

const tagsIn = (text: string): string[] =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");

/** Suggests the project's folders. Any other name creates a folder, and an empty one takes the workflow out of its folder. */
export function GroupingDialog({ projectId, workflow, onClose }: GroupingDialogProps) {
  const { id, name } = workflow;
  const queries = useQueryClient();
  const toast = useToast();
  const listId = useId();
  const [folderText, setFolderText] = useState(workflow.folder ?? "");
  const shownTags = workflow.tags.join(", ");
  const [tagsText, setTagsText] = useState(shownTags);
  const known = useQuery(groupsQuery(projectId));
  const folder = folderText.trim() || null;
  const saving = useMutation({
    mutationFn: () => {
      // Leaves out unchanged fields, so that a change that someone else made meanwhile is kept.
      const changed = folder === workflow.folder ? {} : { folder };
      const body = tagsText === shownTags ? changed : { ...changed, tags: tagsIn(tagsText) };
      return call(api.workflows.update, { projectId, params: { id }, body });
    },
    onSuccess: async () => {
      await invalidateWorkflows(queries, projectId);
      onClose();
      toast(t("Folder and tags of “{name}” saved", { name }));
    },
  });
  const faults = saving.error instanceof CallError ? saving.error.fields : [];
  const faultOf = (field: string) => faults.find((one) => one.field.split(".")[0] === field)?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <Dialog title={t("Folder and tags")} open onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {saving.isError && <Failure error={saving.error} atInputs={faults.map(({ field }) => field)} />}
        <Field
          label={t("Folder")}
          help={t("Choose a folder or type a new name. Leave it empty for none.")}
          list={listId}
          autoComplete="off"
          autoFocus
          maxLength={LIMITS.nameLength.value}
          value={folderText}
          onChange={({ target }) => setFolderText(target.value)}
          error={faultOf("folder")}
        />
        <datalist id={listId}>
          {known.data?.folders.map((one) => (
            <option key={one.name} value={one.name} />
          ))}
        </datalist>
        <Field
          label={t("Tags")}
          help={t("Separate them with commas.")}
          autoComplete="off"
          value={tagsText}
          onChange={({ target }) => setTagsText(target.value)}
          error={faultOf("tags")}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={saving.isPending}>
            {t("Save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

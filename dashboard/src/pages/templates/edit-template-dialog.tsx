// Edits the email of a template in a dialog, so that the page that uses it stays open.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { locale, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { confirmLeaving } from "../../ui/leave-question.ts";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { InboxFields } from "../mail-editor/inbox-fields.tsx";
import { useProject } from "../project-shell.tsx";
import { Conflict } from "./conflict.tsx";
import { SaveButton, useSaveKey } from "./saving-parts.tsx";
import { draftOf, templateQuery, useSaving, type Draft, type Template } from "./template-draft.ts";
import { Writing } from "./writing.tsx";

const route = getRouteApi("/signed-in/$projectId/workflows/$workflowId");

interface DialogProps {
  projectId: string;
  id: string;
  onClose: () => void;
}

export function EditTemplateDialog({ projectId, id, onClose }: DialogProps) {
  const template = useQuery({ ...templateQuery(projectId, id), refetchOnMount: "always" });
  const [taken, setTaken] = useState(0);
  // The page may have read the template long ago, so wait for what is stored now.
  if (template.data !== undefined && template.isFetchedAfterMount)
    return (
      <EmailDialog
        key={taken}
        projectId={projectId}
        template={template.data}
        onTaken={() => setTaken(taken + 1)}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={t("Edit email")} size="wide" open onClose={onClose}>
      {template.isError ? (
        <Failure error={template.error} onRetry={() => void template.refetch()} />
      ) : (
        <Skeleton className="h-128" />
      )}
    </Dialog>
  );
}

interface EmailDialogProps {
  projectId: string;
  template: Template;
  /** Called when another person's version replaces the edited one. */
  onTaken: () => void;
  onClose: () => void;
}

const AT_INPUTS = ["subject", "previewText", "body", "design"];

function EmailDialog({ projectId, template: read, onTaken, onClose }: EmailDialogProps) {
  const project = useProject();
  const [draft, setDraft] = useState(() => draftOf(read));
  const { saving, save, saveOver, isChanged, hasConflict } = useSaving(projectId, read, (stored) => {
    const { subject, previewText, body, design } = draft;
    return { ...draftOf(stored), subject, previewText, body, design };
  });
  useLeaveWarning(isChanged);
  useSaveKey(() => isChanged && saving.mutate(null));
  const change = (changed: Partial<Draft>) => setDraft((old) => ({ ...old, ...changed }));
  const close = async () => {
    if (!isChanged || (await confirmLeaving())) onClose();
  };
  return (
    <Dialog title={read.name} size="wide" open onClose={() => void close()}>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <OtherUses projectId={projectId} id={read.id} />
        <div className="ml-auto flex gap-2">
          <Button look="quiet" onClick={() => void close()}>
            {t("Close")}
          </Button>
          <SaveButton save={isChanged ? save : null} isSaving={saving.isPending} />
        </div>
      </div>
      {hasConflict ? (
        <Conflict projectId={projectId} templateId={read.id} onSaveOver={saveOver} onTaken={onTaken} />
      ) : (
        saving.isError && <Failure error={saving.error} atInputs={AT_INPUTS} />
      )}
      <Writing
        projectId={projectId}
        language={project.language}
        draft={draft}
        onChange={change}
        error={saving.error}
        hasVersions
        fields={
          <InboxFields
            projectId={projectId}
            draft={draft}
            kind={draft.type}
            onChange={change}
            error={saving.error}
          />
        }
      />
    </Dialog>
  );
}

/** Warns that other campaigns and workflows send the same email. */
function OtherUses({ projectId, id }: { projectId: string; id: string }) {
  const { workflowId } = route.useParams();
  const usage = useQuery(query(api.templates.usage, { projectId, params: { id } }));
  if (usage.data === undefined) return null;
  const { campaigns, workflowSteps, executions } = usage.data;
  const others = [...workflowSteps, ...executions].filter((use) => use.workflowId !== workflowId);
  const names = new Set([...campaigns.map(({ name }) => name), ...others.map((use) => use.workflowName)]);
  if (names.size === 0) return null;
  return (
    <p role="status" className="min-w-0 flex-1 text-sm wrap-anywhere text-warn">
      {t("Also used in {names}. Your changes apply there, too.", {
        names: new Intl.ListFormat(locale(), { type: "conjunction" }).format(names),
      })}
    </p>
  );
}

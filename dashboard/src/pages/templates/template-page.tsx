// One template: what it says beside how it looks. Nothing is saved but by the button, and nothing that was typed is lost by leaving.
// Before it: templates-page.tsx. After it: mail-editor/.
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useEffect, useState } from "react";
import { call, CallError, problemWith, type Answer } from "../../api/call.ts";
import { deleteTemplate, duplicateTemplate, getTemplate, updateTemplate } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { MailText } from "../mail-editor/mail-text.tsx";
import { useProject } from "../project-shell.tsx";
import { KIND_OPTIONS, KINDS } from "./kinds.ts";
import { TemplateUsage } from "./template-usage.tsx";

const route = getRouteApi("/signed-in/$projectId/templates/$templateId");
type Template = Answer<NonNullable<typeof getTemplate.endpoint>>;
type Draft = Record<"name" | "subject" | "body" | "from" | "fromName" | "replyTo", string> &
  Pick<Template, "type">;

function templateQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "template", id],
    queryFn: ({ signal }) => call(getTemplate, { projectId, params: { id }, signal }),
    // What is being edited is not changed under the hands of whoever edits it.
    refetchOnWindowFocus: false,
  });
}

export function TemplatePage() {
  const project = useProject();
  const { templateId } = route.useParams();
  const template = useQuery(templateQuery(project.id, templateId));
  if (template.data !== undefined)
    return <Editor key={template.data.id} projectId={project.id} template={template.data} />;
  return (
    <Page title={t("Template")}>
      {template.isError ? (
        <Failure error={template.error} onRetry={() => void template.refetch()} />
      ) : (
        <Skeleton className="h-128" />
      )}
    </Page>
  );
}

function draftOf({ name, type, subject, body, from, fromName, replyTo }: Template): Draft {
  return {
    name,
    type,
    subject,
    body,
    from: from ?? "",
    fromName: fromName ?? "",
    replyTo: replyTo ?? "",
  };
}

/** What is sent of a change: an emptied address is none. */
function changeOf(stored: Draft, draft: Draft): Partial<Record<keyof Draft, string | null>> {
  const changed = (Object.keys(draft) as Array<keyof Draft>).filter((name) => stored[name] !== draft[name]);
  const valueOf = (name: keyof Draft) =>
    (name === "from" || name === "fromName" || name === "replyTo") && draft[name].trim() === ""
      ? null
      : draft[name];
  return Object.fromEntries(changed.map((name) => [name, valueOf(name)]));
}

function useSaving(projectId: string, template: Template, draft: Draft) {
  const queries = useQueryClient();
  const toast = useToast();
  const change = changeOf(draftOf(template), draft);
  const isChanged = Object.keys(change).length > 0;
  const saving = useMutation({
    mutationFn: () =>
      call(updateTemplate, {
        projectId,
        params: { id: template.id },
        body: change as Partial<Omit<Draft, "type">> & Partial<Pick<Draft, "type">>,
      }),
    onSuccess: async ({ warnings: _warnings, ...saved }) => {
      queries.setQueryData(templateQuery(projectId, template.id).queryKey, saved);
      await queries.invalidateQueries({ queryKey: ["project", projectId, "templates"] });
      toast(t("Template saved"));
    },
  });
  return { saving, isChanged };
}

function Editor({ projectId, template }: { projectId: string; template: Template }) {
  const [draft, setDraft] = useState(() => draftOf(template));
  const { saving, isChanged } = useSaving(projectId, template, draft);
  useLeaveWarning(isChanged);
  useSaveKey(() => isChanged && saving.mutate());
  const change = (changed: Partial<Draft>) => setDraft((old) => ({ ...old, ...changed }));
  const hasFieldProblem = saving.error instanceof CallError && saving.error.fields.length > 0;
  return (
    <Page
      title={template.name}
      width="wide"
      actions={
        <>
          <More projectId={projectId} template={template} />
          <Button
            look="primary"
            busy={saving.isPending}
            disabled={!isChanged}
            onClick={() => saving.mutate()}
          >
            {isChanged ? t("Save") : t("Saved")}
          </Button>
        </>
      }
    >
      <Link
        to="/$projectId/templates"
        params={{ projectId }}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All templates")}
      </Link>
      {saving.isError && !hasFieldProblem && <Failure error={saving.error} />}
      <div className="grid gap-6 xl:grid-cols-2">
        <div className="flex flex-col gap-4">
          <Head draft={draft} error={saving.error} onChange={change} />
          <MailText projectId={projectId} draft={draft} onChange={change} error={saving.error} />
        </div>
        <div className="flex flex-col gap-6">
          <MailPreview projectId={projectId} draft={draft} kind={draft.type} />
          <TemplateUsage projectId={projectId} id={template.id} />
        </div>
      </div>
    </Page>
  );
}

interface HeadProps {
  draft: Draft;
  error: unknown;
  onChange: (change: Partial<Draft>) => void;
}

function Head({ draft, error, onChange }: HeadProps) {
  const tied = (name: "name" | "from" | "fromName" | "replyTo") => ({
    value: draft[name],
    error: problemWith(error, name),
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("Name")} {...tied("name")} />
        <Select
          label={t("Type")}
          options={KIND_OPTIONS}
          value={draft.type}
          onChange={({ target }) => onChange({ type: target.value as Draft["type"] })}
          help={KINDS[draft.type].about}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={t("From")} placeholder="news@example.com" {...tied("from")} />
        <Field label={t("Sender's name")} placeholder="Acme" {...tied("fromName")} />
        <Field label={t("Replies go to")} placeholder="help@example.com" {...tied("replyTo")} />
      </div>
    </>
  );
}

/** Ctrl+S, or ⌘S, saves. */
function useSaveKey(save: () => void) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      save();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
}

function More({ projectId, template }: { projectId: string; template: Template }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const [isDeleting, setDeleting] = useState(false);
  const forget = () => queries.invalidateQueries({ queryKey: ["project", projectId, "templates"] });
  const copying = useMutation({
    mutationFn: () => call(duplicateTemplate, { projectId, params: { id: template.id } }),
    onSuccess: async ({ id }) => {
      await forget();
      await navigate({ to: "/$projectId/templates/$templateId", params: { projectId, templateId: id } });
      toast(t("This is the copy"));
    },
    onError: (error) => toast(t("Nothing was copied"), error.message),
  });
  const deleting = useMutation({
    mutationFn: () => call(deleteTemplate, { projectId, params: { id: template.id } }),
    onSuccess: async () => {
      await navigate({ to: "/$projectId/templates", params: { projectId }, ignoreBlocker: true });
      await forget();
      toast(t("Template deleted"), template.name);
    },
  });
  return (
    <>
      <Button look="quiet" busy={copying.isPending} onClick={() => copying.mutate()}>
        {t("Duplicate")}
      </Button>
      <Button look="quiet" onClick={() => setDeleting(true)}>
        {t("Delete")}
      </Button>
      {isDeleting && (
        <ConfirmDialog
          title={t("Delete this template?")}
          description={t("Mails that were accepted before keep what they say.")}
          action={t("Delete template")}
          doing={deleting}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

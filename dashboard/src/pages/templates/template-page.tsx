// Edits a template next to its preview. Saves only on request, and asks before leaving with unsaved edits.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { problemWith } from "../../api/call.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Field, Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { Gone, useIsBeingDeleted } from "../gone.tsx";
import { InboxFields } from "../mail-editor/inbox-fields.tsx";
import { useProject } from "../project-shell.tsx";
import { Conflict } from "./conflict.tsx";
import { KIND_OPTIONS, KINDS } from "./kinds.ts";
import { Languages } from "./languages.tsx";
import { BackToTemplates, SaveButton, useSaveKey } from "./saving-parts.tsx";
import { More, Trials } from "./template-actions.tsx";
import { draftOf, templateQuery, useSaving, type Draft, type Template } from "./template-draft.ts";
import { TemplateUsage } from "./template-usage.tsx";
import { VariantPage } from "./variant-editor.tsx";
import { Writing } from "./writing.tsx";

const route = getRouteApi("/signed-in/$projectId/templates/$templateId");
export function TemplatePage() {
  const project = useProject();
  const { templateId } = route.useParams();
  const { locale } = route.useSearch();
  const navigate = route.useNavigate();
  const [restored, setRestored] = useState(0);
  const template = useQuery(templateQuery(project.id, templateId));
  if (useIsBeingDeleted(templateId)) return <Gone name={template.data?.name ?? t("Template")} />;
  const showRestored = (language: string | null) => {
    setRestored(restored + 1);
    void navigate({ search: language === null ? {} : { locale: language }, ignoreBlocker: true });
  };
  if (template.data !== undefined) {
    const shared = { project, template: template.data, onRestored: showRestored };
    const key = `${template.data.id} ${restored}`;
    if (locale === undefined) return <Editor key={key} {...shared} />;
    return <VariantPage key={`${key} ${locale}`} {...shared} locale={locale} />;
  }
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

const AT_INPUTS = ["name", "from", "fromName", "replyTo", "subject", "previewText", "body"];

interface EditorProps {
  project: Project;
  template: Template;
  /** Called with the language of a restored version. */
  onRestored: (locale: string | null) => void;
}

function Editor({ project, template: read, onRestored }: EditorProps) {
  const projectId = project.id;
  const [draft, setDraft] = useState(() => draftOf(read));
  const {
    stored: template,
    saving,
    save,
    saveOver,
    isChanged,
    hasConflict,
  } = useSaving(projectId, read, () => draft);
  useLeaveWarning(isChanged);
  useSaveKey(() => isChanged && saving.mutate(null));
  const change = (changed: Partial<Draft>) => setDraft((old) => ({ ...old, ...changed }));
  const isBlocks = draft.design !== null;
  return (
    <Page
      title={template.name}
      actions={
        <Actions
          {...{ projectId, template, draft, onRestored }}
          save={isChanged ? save : null}
          isSaving={saving.isPending}
        />
      }
    >
      <BackToTemplates projectId={projectId} />
      {/* As loaded and not as saved last, because undoing a removal changes the languages. */}
      <Languages projectId={projectId} template={{ ...template, locales: read.locales }} locale={null} />
      {hasConflict ? (
        <Conflict
          projectId={projectId}
          templateId={template.id}
          onSaveOver={saveOver}
          onTaken={() => onRestored(null)}
        />
      ) : (
        saving.isError && (
          <Failure error={saving.error} atInputs={isBlocks ? [...AT_INPUTS, "design"] : AT_INPUTS} />
        )
      )}
      <Writing
        projectId={projectId}
        language={project.language}
        draft={draft}
        onChange={change}
        error={saving.error}
        hasVersions
        fields={
          <>
            <Head draft={draft} error={saving.error} onChange={change} />
            <InboxFields
              projectId={projectId}
              draft={draft}
              kind={draft.type}
              onChange={change}
              error={saving.error}
            />
          </>
        }
        aside={<TemplateUsage projectId={projectId} id={template.id} />}
      />
    </Page>
  );
}

interface ActionsProps {
  projectId: string;
  template: Template;
  draft: Draft;
  /** Null if nothing is unsaved. */
  save: (() => Promise<unknown>) | null;
  isSaving: boolean;
  onRestored: (locale: string | null) => void;
}

function Actions({ projectId, template, draft, save, isSaving, onRestored }: ActionsProps) {
  return (
    <>
      <Trials
        {...{ projectId, draft, onRestored }}
        templateId={template.id}
        locale={null}
        isChanged={save !== null}
      />
      <More projectId={projectId} template={template} save={save} />
      <SaveButton save={save} isSaving={isSaving} />
    </>
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
      <div className="grid gap-4 @md:grid-cols-2">
        <Field label={t("Name")} {...tied("name")} />
        <Select
          label={t("Type")}
          options={KIND_OPTIONS}
          value={draft.type}
          onChange={({ target }) => onChange({ type: target.value as Draft["type"] })}
          help={KINDS[draft.type].about}
        />
      </div>
      <div className="grid gap-4 @md:grid-cols-2">
        <div className="@md:col-span-2">
          <Field label={t("From")} placeholder="news@example.com" {...tied("from")} />
        </div>
        <Field label={t("From name")} placeholder="Acme" {...tied("fromName")} />
        <Field label={t("Reply-to")} placeholder="help@example.com" {...tied("replyTo")} />
      </div>
    </>
  );
}

// Edits a template in one language.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Project } from "../../session/queries.ts";
import { Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { InboxFields } from "../mail-editor/inbox-fields.tsx";
import { VariantConflict } from "./conflict.tsx";
import { Languages, RemoveLanguage } from "./languages.tsx";
import { BackToTemplates, SaveButton, useSaveKey } from "./saving-parts.tsx";
import { Trials } from "./template-actions.tsx";
import { draftOf, writtenOf, type Template } from "./template-draft.ts";
import { useVariantSaving, variantQuery, type Variant } from "./template-variant.ts";
import { Writing, type Written } from "./writing.tsx";

interface VariantPageProps {
  project: Project;
  template: Template;
  locale: string;
  /** Called with the language of a restored version. */
  onRestored: (locale: string | null) => void;
}

export function VariantPage({ project, template, locale, onRestored }: VariantPageProps) {
  const variant = useQuery(variantQuery(project.id, template.id, locale));
  if (variant.data !== undefined)
    return <VariantEditor {...{ project, template, onRestored }} variant={variant.data} />;
  return (
    <Page title={template.name}>
      <BackToTemplates projectId={project.id} />
      <Languages projectId={project.id} template={template} locale={locale} />
      {variant.isError ? (
        <Failure error={variant.error} onRetry={() => void variant.refetch()} />
      ) : (
        <Skeleton className="h-128" />
      )}
    </Page>
  );
}

interface VariantEditorProps extends Omit<VariantPageProps, "locale"> {
  variant: Variant;
}

function VariantEditor({ project, template, variant: read, onRestored }: VariantEditorProps) {
  const projectId = project.id;
  const templateId = template.id;
  const [draft, setDraft] = useState<Written>(() => writtenOf(read));
  const { stored, saving, save, saveOver, isChanged, hasConflict } = useVariantSaving(
    projectId,
    templateId,
    read,
    draft,
  );
  useLeaveWarning(isChanged);
  useSaveKey(() => isChanged && saving.mutate(null));
  const change = (changed: Partial<Written>) => setDraft((old) => ({ ...old, ...changed }));
  const { locale } = read;
  const saveChanges = isChanged ? save : null;
  const inputs = ["subject", "previewText", "body"];
  const atInputs = draft.design === null ? inputs : [...inputs, "design"];
  const edited = { ...draftOf(template), ...draft };
  return (
    <Page
      title={template.name}
      actions={
        <>
          <Trials {...{ projectId, templateId, locale, isChanged, onRestored }} draft={edited} />
          <RemoveLanguage {...{ projectId, templateId }} variant={stored} />
          <SaveButton save={saveChanges} isSaving={saving.isPending} />
        </>
      }
    >
      <BackToTemplates projectId={projectId} />
      <Languages projectId={projectId} template={template} locale={locale} />
      {hasConflict ? (
        <VariantConflict
          {...{ projectId, templateId, locale }}
          onSaveOver={saveOver}
          onTaken={() => onRestored(locale)}
        />
      ) : (
        saving.isError && <Failure error={saving.error} atInputs={atInputs} />
      )}
      <Writing
        {...{ projectId, locale }}
        language={locale}
        draft={edited}
        onChange={change}
        error={saving.error}
        hasVersions
        fields={
          <InboxFields
            {...{ projectId, locale }}
            draft={edited}
            kind={template.type}
            onChange={change}
            error={saving.error}
          />
        }
      />
    </Page>
  );
}

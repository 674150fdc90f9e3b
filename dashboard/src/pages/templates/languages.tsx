// Switches between the languages of a template, adds one, and removes one with undo.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { localeTagOf } from "@postloft/contract/locale-tag.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useUndoToast } from "../use-undo.ts";
import { languageName } from "./language-name.ts";
import { writtenOf, type Template } from "./template-draft.ts";
import { contentOf, storeLocales, type Variant } from "./template-variant.ts";

const route = getRouteApi("/signed-in/$projectId/templates/$templateId");

interface LanguagesProps {
  projectId: string;
  template: Template;
  /** The chosen language; null for the template's own content. */
  locale: string | null;
}

export function Languages({ projectId, template, locale }: LanguagesProps) {
  const navigate = route.useNavigate();
  const [isAdding, setAdding] = useState(false);
  const choose = (tag: string) => void navigate({ search: tag === "" ? {} : { locale: tag } });
  const options = template.locales.map((tag) => ({ value: tag, label: languageName(tag) }));
  return (
    <div className="mb-5 flex items-center gap-4 border-b border-line">
      <Choices
        label={t("Language")}
        look="tabs"
        className="min-w-0"
        options={[{ value: "", label: t("Default") }, ...options]}
        value={locale ?? ""}
        onChoose={choose}
      />
      <Button look="quiet" className="shrink-0" onClick={() => setAdding(true)}>
        <Plus size={15} aria-hidden /> {t("Add language")}
      </Button>
      {isAdding && (
        <AddLanguage
          projectId={projectId}
          template={template}
          onAdded={choose}
          onClose={() => setAdding(false)}
        />
      )}
    </div>
  );
}

interface AddLanguageProps {
  projectId: string;
  template: Template;
  onAdded: (tag: string) => void;
  onClose: () => void;
}

/** Adds a language that starts with the template's own content, or opens the one that exists. */
function AddLanguage({ projectId, template, onAdded, onClose }: AddLanguageProps) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState("");
  const tag = localeTagOf(typed);
  const adding = useMutation({
    mutationFn: async () => {
      if (tag !== null && template.locales.includes(tag)) return tag;
      // The API rejects "-" with the reason.
      const params = { id: template.id, locale: tag ?? "-" };
      const body = contentOf(writtenOf(template));
      return (await call(api.templates.saveVariant, { projectId, params, body })).locale;
    },
    onSuccess: async (added) => {
      onClose();
      await storeLocales(queries, projectId, template.id, (locales) => [...new Set([...locales, added])]);
      onAdded(added);
    },
  });
  return (
    <Dialog
      title={t("Add language")}
      description={t("Contacts whose “locale” fits get this language. It starts as a copy of the default.")}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Language")}
        placeholder="pt-BR"
        help={tag === null ? t("A language tag, such as de or pt-BR") : languageName(tag)}
        value={typed}
        onChange={setTyped}
        action={t("Add language")}
        asking={adding}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Removes a language, and offers to bring back its saved content. */
export function RemoveLanguage({
  projectId,
  templateId,
  variant,
}: {
  projectId: string;
  templateId: string;
  variant: Variant;
}) {
  const queries = useQueryClient();
  const navigate = route.useNavigate();
  const toast = useToast();
  const done = useUndoToast(projectId);
  const { locale } = variant;
  const params = { id: templateId, locale };
  const removing = useMutation({
    mutationFn: () => call(api.templates.deleteVariant, { projectId, params }),
    onSuccess: async () => {
      await navigate({ search: {}, ignoreBlocker: true });
      await storeLocales(queries, projectId, templateId, (locales) =>
        locales.filter((one) => one !== locale),
      );
      const body = contentOf(writtenOf(variant));
      done(t("Language removed"), {
        description: languageName(locale),
        undo: () => call(api.templates.saveVariant, { projectId, params, body }),
      });
    },
    onError: (error) => toast(t("Couldn't remove the language"), error.message),
  });
  return (
    <Button look="quiet" busy={removing.isPending} onClick={() => removing.mutate()}>
      {t("Remove language")}
    </Button>
  );
}

// Actions on a template: test email, version history, duplicate and delete.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { TestDialog } from "../mail-editor/test-dialog.tsx";
import { useDelayedDeletion } from "../use-delayed-deletion.ts";
import { testDraftOf, type EditedEmail } from "../mail-editor/test-draft.ts";
import type { Draft, Template } from "./template-draft.ts";
import { VersionsDialog } from "./versions-dialog.tsx";

interface TrialsProps {
  projectId: string;
  templateId: string;
  /** The edited content with its sender. */
  draft: EditedEmail & Pick<Draft, "type">;
  /** The language of the content; null for the template's own. */
  locale: string | null;
  isChanged: boolean;
  onRestored: (locale: string | null) => void;
}

/** Sends the edited content as a test without saving it, and restores versions. */
export function Trials({ projectId, templateId, draft, locale, isChanged, onRestored }: TrialsProps) {
  const [asked, setAsked] = useState<"test" | "versions" | null>(null);
  const close = () => setAsked(null);
  return (
    <>
      <Button look="quiet" onClick={() => setAsked("versions")}>
        {t("Versions")}
      </Button>
      <Button look="quiet" onClick={() => setAsked("test")}>
        {t("Send test")}
      </Button>
      {asked === "test" && (
        <TestDialog
          projectId={projectId}
          send={(test) =>
            call(api.templates.test, {
              projectId,
              params: { id: templateId },
              body: {
                ...test,
                ...(locale === null ? {} : { locale }),
                draft: testDraftOf(draft, draft.type),
              },
            })
          }
          onClose={close}
        />
      )}
      {asked === "versions" && (
        <VersionsDialog
          projectId={projectId}
          templateId={templateId}
          isChanged={isChanged}
          onRestored={onRestored}
          onClose={close}
        />
      )}
    </>
  );
}

interface MoreProps {
  projectId: string;
  template: Template;
  /** Null if nothing is unsaved. */
  save: (() => Promise<unknown>) | null;
}

/** Duplicates the template after saving, or deletes it. */
export function More({ projectId, template, save }: MoreProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const toast = useToast();
  const deleteLater = useDelayedDeletion(projectId);
  const forget = () =>
    queries.invalidateQueries({ queryKey: query(api.templates.list, { projectId }).queryKey });
  const copying = useMutation({
    mutationFn: async () => {
      await save?.();
      return call(api.templates.duplicate, { projectId, params: { id: template.id } });
    },
    onSuccess: async ({ id }) => {
      await forget();
      // Not awaited, because leaving may ask the user for confirmation. If the user stays, the promise resolves with the next navigation.
      void navigate({
        to: "/$projectId/templates/$templateId",
        params: { projectId, templateId: id },
      }).then(() => router.state.location.pathname.endsWith(`/${id}`) && toast(t("Duplicated")));
    },
    onError: (error) => toast(t("Couldn't duplicate"), error.message),
  });
  const remove = async () => {
    await navigate({ to: "/$projectId/templates", params: { projectId }, ignoreBlocker: true });
    const { id, name } = template;
    deleteLater({ id, name, remove: () => call(api.templates.delete, { projectId, params: { id } }) });
  };
  return (
    <>
      <Button look="quiet" busy={copying.isPending} onClick={() => copying.mutate()}>
        {t("Duplicate")}
      </Button>
      <Button look="quiet" onClick={() => void remove()}>
        {t("Delete")}
      </Button>
    </>
  );
}

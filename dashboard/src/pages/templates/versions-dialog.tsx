// Shows and restores previous versions of a template.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatAgo, formatBytes, formatInstant } from "../../ui/format.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { languageName } from "./language-name.ts";
import { templateQuery } from "./template-draft.ts";
import { variantQuery } from "./template-variant.ts";

interface VersionsDialogProps {
  projectId: string;
  templateId: string;
  /** Whether there are unsaved edits that restoring would replace. */
  isChanged: boolean;
  /** Called with the language of the version. */
  onRestored: (locale: string | null) => void;
  onClose: () => void;
}

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function VersionsDialog({
  projectId,
  templateId,
  isChanged,
  onRestored,
  onClose,
}: VersionsDialogProps) {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<string | null>(null);
  const list = useQuery({
    ...query(api.templates.versions, { projectId, params: { id: templateId } }),
    staleTime: 0,
  });
  const restoring = useMutation({
    mutationFn: (versionId: string) =>
      call(api.templates.restoreVersion, { projectId, params: { id: templateId, versionId } }),
    onSuccess: async (restored, versionId) => {
      const locale = versions?.find(({ id }) => id === versionId)?.locale ?? null;
      if (locale !== null)
        queries.removeQueries({ queryKey: variantQuery(projectId, templateId, locale).queryKey });
      queries.setQueryData(templateQuery(projectId, templateId).queryKey, restored);
      await queries.invalidateQueries({ queryKey: query(api.templates.list, { projectId }).queryKey });
      onRestored(locale);
    },
  });
  const versions = list.data?.versions;
  const shown = chosen ?? versions?.[0]?.id;
  return (
    <Dialog
      title={t("Version history")}
      description={t("Restoring a version keeps the current one here.")}
      open
      onClose={onClose}
    >
      {list.isError && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {restoring.isError && <Failure error={restoring.error} />}
      {versions === undefined && !list.isError && <Skeleton className="h-40" />}
      {versions?.length === 0 && <p className="text-soft">{t("No earlier versions yet.")}</p>}
      {versions !== undefined && versions.length > 0 && (
        <ul className="mb-4 flex max-h-52 flex-col gap-0.5 overflow-y-auto">
          {versions.map(({ id, locale, subject, bytes, replacedAt }) => (
            <li key={id}>
              <button
                type="button"
                aria-pressed={id === shown}
                title={formatInstant(replacedAt)}
                onClick={() => setChosen(id)}
                className="flex w-full items-baseline gap-3 rounded-sm px-2 py-1.5 text-left text-sm hover:bg-hover aria-pressed:bg-press"
              >
                <bdi className="min-w-0 flex-1 truncate">{subject}</bdi>
                {locale !== null && <span className="text-soft">{languageName(locale)}</span>}
                <span className="text-faint">{formatBytes(bytes)}</span>
                <span className="text-faint">{formatAgo(replacedAt)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {shown !== undefined && <Version projectId={projectId} templateId={templateId} versionId={shown} />}
      <div className="mt-4 flex flex-wrap items-center justify-end gap-2">
        {isChanged && shown !== undefined && (
          <p className="mr-auto text-sm text-warn">{t("Your unsaved changes will be lost.")}</p>
        )}
        <Button look="quiet" onClick={onClose}>
          {t("Close")}
        </Button>
        {shown !== undefined && (
          <Button look="primary" busy={restoring.isPending} onClick={() => restoring.mutate(shown)}>
            {t("Restore")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Version(ids: { projectId: string; templateId: string; versionId: string }) {
  const { projectId, templateId, versionId } = ids;
  const version = useQuery(
    query(api.templates.version, { projectId, params: { id: templateId, versionId } }),
  );
  if (version.isError) return <Failure error={version.error} onRetry={() => void version.refetch()} />;
  if (version.data === undefined) return <Skeleton className="h-72" />;
  return <MailFrame title={t("Version content")} html={version.data.body} className="h-72 w-full" />;
}

// Lists the images of a project with their size and uses.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { useList } from "../../api/use-list.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatBytes } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { ImageRow } from "./image-row.tsx";
import { UploadButton } from "./image-source.tsx";

type UploadPage = ApiResponse<typeof api.uploads.list>;

export function ImageSettings({ project }: { project: Project }) {
  const projectId = project.id;
  const list = useList(api.uploads.list, { projectId });
  const [isDeleting, setDeleting] = useState(false);
  // Each page of this list also has the total.
  const { storedBytes: stored } = (list.data?.pages[0] ?? {}) as Partial<Pick<UploadPage, "storedBytes">>;
  const appError = whyNot(project, "ADMIN");
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        {stored === undefined ? <span /> : <Storage stored={stored} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button
            look="quiet"
            disabled={appError !== undefined}
            title={appError}
            onClick={() => setDeleting(true)}
          >
            <Trash2 size={14} aria-hidden /> {t("Delete unused images")}
          </Button>
          <UploadButton projectId={projectId} look="primary" />
        </div>
      </div>
      {list.isError && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.rows === undefined && !list.isError && <Skeleton className="h-96" />}
      {list.rows !== undefined && (
        <Card className="overflow-hidden">
          {list.rows.length === 0 ? (
            <Empty title={t("No images yet")}>{t("Images that you upload appear here.")}</Empty>
          ) : (
            <ul className="divide-y divide-line">
              {list.rows.map((image) => (
                <ImageRow key={image.key} projectId={projectId} image={image} />
              ))}
            </ul>
          )}
        </Card>
      )}
      <More
        count={
          list.total === undefined || list.total === 0 ? "" : plural(list.total, "{n} image", "{n} images")
        }
        list={list}
      />
      {isDeleting && <DeleteUnused projectId={projectId} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Storage({ stored }: { stored: number }) {
  const most = LIMITS.uploadProjectBytes.value;
  const values = { stored: formatBytes(stored), most: formatBytes(most) };
  return (
    <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
      <span>{t("{stored} of {most} used", values)}</span>
      <meter
        aria-label={t("Storage")}
        className="h-2 w-40"
        min={0}
        max={most}
        high={most * NEARLY_FULL}
        value={stored}
      />
    </div>
  );
}

const NEARLY_FULL = 0.9;

function DeleteUnused({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const deleting = useMutation({
    mutationFn: () => call(api.uploads.deleteUnused, { projectId }),
    onSuccess: async ({ deleted, freedBytes }) => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.uploads.list, { projectId }) });
      const freed = t("{size} freed.", { size: formatBytes(freedBytes) });
      toast(plural(deleted, "{n} image deleted", "{n} images deleted"), freed);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete unused images?")}
      description={t(
        "Deletes images that no template, campaign or logo uses. Images of the last 24 hours are kept. Sent emails no longer show a deleted image.",
      )}
      action={t("Delete unused images")}
      doing={deleting}
      onClose={onClose}
    />
  );
}

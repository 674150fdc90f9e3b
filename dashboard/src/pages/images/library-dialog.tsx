// Chooses one of the project's images.
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { t } from "../../text/t.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { More } from "../../ui/more.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Thumbnail } from "./thumbnail.tsx";

export interface ChosenImage {
  url: string;
  alt: string;
}

interface LibraryDialogProps {
  projectId: string;
  onChoose: (image: ChosenImage) => void;
  onClose: () => void;
}

export function LibraryDialog({ projectId, onChoose, onClose }: LibraryDialogProps) {
  const list = useList(api.uploads.list, { projectId });
  return (
    <Dialog title={t("Choose image")} open onClose={onClose}>
      {list.isError && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.rows === undefined && !list.isError && <Skeleton className="h-40" />}
      {list.rows?.length === 0 && (
        <Empty title={t("No images yet")}>{t("Images that you upload appear here.")}</Empty>
      )}
      <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {list.rows?.map((image) => (
          <li key={image.key}>
            <button
              type="button"
              onClick={() => onChoose({ url: image.url, alt: image.alt })}
              className="flex w-full flex-col gap-1.5 rounded-md border border-line p-1.5 text-left text-sm hover:bg-hover"
            >
              <Thumbnail image={image} className="h-24 w-full" />
              <bdi className="w-full truncate text-soft">{image.filename}</bdi>
            </button>
          </li>
        ))}
      </ul>
      <More count="" list={list} />
    </Dialog>
  );
}

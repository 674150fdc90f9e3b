// One image of the library: its facts, its uses, its alt text, and its deletion.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatBytes, formatInstant } from "../../ui/format.ts";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Thumbnail, type StoredImage } from "./thumbnail.tsx";

interface ImageProps {
  projectId: string;
  image: StoredImage;
}

export function ImageRow({ projectId, image }: ImageProps) {
  const [open, setOpen] = useState<"alt" | "deletion" | null>(null);
  const close = () => setOpen(null);
  const { filename, alt, size, width, height, contentType, createdAt, url } = image;
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 p-4 text-sm">
      <a href={url} target="_blank" rel="noreferrer" aria-label={t("Open {name}", { name: filename })}>
        <Thumbnail image={image} className="h-16 w-24" />
      </a>
      <div className="min-w-0 flex-1 basis-56 wrap-anywhere">
        <p className="font-medium">
          <bdi>{filename}</bdi>
        </p>
        <p className="text-soft">
          {[
            contentType.replace("image/", "").toUpperCase(),
            `${width} × ${height}`,
            formatBytes(size),
            formatInstant(createdAt),
          ].join(" · ")}
        </p>
        <p className="text-soft">{alt === "" ? t("No alt text") : t("Alt text: {alt}", { alt })}</p>
        <Uses projectId={projectId} usedBy={image.usedBy} />
      </div>
      <div className="flex gap-1 max-sm:-ml-3">
        <Button look="quiet" onClick={() => setOpen("alt")}>
          {t("Alt text")}
        </Button>
        <Button
          look="quiet"
          aria-label={t("Delete {name}", { name: filename })}
          onClick={() => setOpen("deletion")}
        >
          <Trash2 size={14} aria-hidden />
        </Button>
      </div>
      {open === "alt" && <AltDialog projectId={projectId} image={image} onClose={close} />}
      {open === "deletion" && <DeleteImage projectId={projectId} image={image} onClose={close} />}
    </li>
  );
}

const USE_LINK = "underline underline-offset-2 hover:text-ink";

function Uses({ projectId, usedBy }: { projectId: string; usedBy: StoredImage["usedBy"] }) {
  if (usedBy.length === 0) return <p className="text-faint">{t("Not used")}</p>;
  return (
    <p className="text-soft">
      {t("Used in")}{" "}
      {usedBy.map((use, at) => (
        <span key={`${use.type} ${use.id}`}>
          {at > 0 && ", "}
          <UseLink projectId={projectId} use={use} />
        </span>
      ))}
    </p>
  );
}

function UseLink({ projectId, use }: { projectId: string; use: StoredImage["usedBy"][number] }) {
  const { type, id, name } = use;
  if (type === "CAMPAIGN")
    return (
      <Link
        to="/$projectId/campaigns/$campaignId"
        params={{ projectId, campaignId: id }}
        search={{}}
        className={USE_LINK}
      >
        <bdi>{name}</bdi>
      </Link>
    );
  if (type === "LOGO")
    return (
      <Link to="/$projectId/settings" params={{ projectId }} search={{ tab: "brand" }} className={USE_LINK}>
        {t("Brand")}
      </Link>
    );
  return (
    <Link
      to="/$projectId/templates/$templateId"
      params={{ projectId, templateId: id }}
      search={{}}
      className={USE_LINK}
    >
      <bdi>{type === "TEMPLATE" ? name : t("{name} (earlier version)", { name })}</bdi>
    </Link>
  );
}

function AltDialog({ projectId, image, onClose }: ImageProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const [alt, setAlt] = useState(image.alt);
  const saving = useMutation({
    mutationFn: () =>
      call(api.uploads.update, { projectId, params: { key: image.key }, body: { alt: alt.trim() } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.uploads.list, { projectId }) });
      onClose();
    },
  });
  return (
    <Dialog title={t("Alt text")} open onClose={onClose}>
      <OneFieldForm
        label={t("Alt text")}
        help={t("Proposed when you choose the image. Emails that use it already keep theirs.")}
        value={alt}
        onChange={setAlt}
        action={t("Save")}
        asking={saving}
        onCancel={onClose}
      />
    </Dialog>
  );
}

function DeleteImage({ projectId, image, onClose }: ImageProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => call(api.uploads.delete, { projectId, params: { key: image.key } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.uploads.list, { projectId }) });
      onClose();
    },
  });
  if (image.usedBy.length > 0)
    return (
      <Dialog
        title={t("This image is used")}
        description={t("Remove it there first, so that no email shows a missing image.")}
        open
        onClose={onClose}
      >
        <Uses projectId={projectId} usedBy={image.usedBy} />
        <div className="mt-4 flex justify-end">
          <Button onClick={onClose}>{t("Close")}</Button>
        </div>
      </Dialog>
    );
  return (
    <ConfirmDialog
      title={t("Delete {name}?", { name: image.filename })}
      description={t("Sent emails no longer show a deleted image. This can't be undone.")}
      action={t("Delete image")}
      doing={deleting}
      onClose={onClose}
    />
  );
}

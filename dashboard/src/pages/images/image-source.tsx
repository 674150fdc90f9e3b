// An image by its URL, by upload, or chosen from the images of the project.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Images, Upload } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { upload } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { configQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { LibraryDialog, type ChosenImage } from "./library-dialog.tsx";

const TYPES = "image/png,image/jpeg,image/gif,image/webp";

interface ImageSourceProps {
  projectId: string;
  label: string;
  url: string;
  help?: string | undefined;
  error?: string | undefined;
  disabled?: boolean;
  onType: (url: string) => void;
  /** Called when an upload finishes, even if the input is closed by then. */
  onUploaded: (url: string) => void;
  onChoose: (image: ChosenImage) => void;
}

export function ImageSource({
  projectId,
  label,
  url,
  help,
  error,
  disabled = false,
  onType,
  onUploaded,
  onChoose,
}: ImageSourceProps) {
  const config = useQuery(configQuery);
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={label}
        placeholder="https://example.com/image.png"
        value={url}
        help={help}
        error={error}
        disabled={disabled}
        onChange={({ target }) => onType(target.value)}
      />
      {config.data?.features.storage === true && (
        <div className="flex flex-wrap gap-2">
          <UploadButton projectId={projectId} disabled={disabled} onUploaded={onUploaded} />
          <Button disabled={disabled} onClick={() => setChoosing(true)}>
            <Images size={14} aria-hidden /> {t("Choose image")}
          </Button>
        </div>
      )}
      {isChoosing && (
        <LibraryDialog
          projectId={projectId}
          onChoose={(image) => {
            setChoosing(false);
            onChoose(image);
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </div>
  );
}

interface UploadButtonProps {
  projectId: string;
  disabled?: boolean;
  look?: "primary";
  onUploaded?: (url: string) => void;
}

/** Uploads an image and shows why it is rejected. */
export function UploadButton({ projectId, disabled = false, look, onUploaded }: UploadButtonProps) {
  const file = useRef<HTMLInputElement>(null);
  const toast = useToast();
  const isOpen = useIsOpen();
  const queries = useQueryClient();
  const uploading = useMutation({
    mutationFn: (chosen: File) => upload(api.uploads.create, { projectId }, chosen, { part: "image" }),
    onSuccess: ({ url }) => {
      void queries.invalidateQueries({ queryKey: resourceKey(api.uploads.list, { projectId }) });
      onUploaded?.(url);
    },
    onError: (error) => {
      if (!isOpen.current) toast(t("Couldn't upload the image"), error.message);
    },
  });
  return (
    <>
      {uploading.isError && (
        <div className="w-full">
          <Failure error={uploading.error} />
        </div>
      )}
      <input
        ref={file}
        type="file"
        accept={TYPES}
        hidden
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen !== undefined) uploading.mutate(chosen);
          target.value = "";
        }}
      />
      <Button
        {...(look === undefined ? {} : { look })}
        disabled={disabled}
        busy={uploading.isPending}
        onClick={() => file.current?.click()}
      >
        <Upload size={14} aria-hidden /> {t("Upload")}
      </Button>
    </>
  );
}

/** Returns whether the form is still shown, for callbacks that run later. */
function useIsOpen() {
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return isOpen;
}

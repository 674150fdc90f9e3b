// Edits an image block: its URL or upload, alternative text and link.
import type { Leaf } from "@postloft/contract/design.ts";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { useEffect, useRef } from "react";
import { upload } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { configQuery } from "../../../session/queries.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/states.tsx";
import { useToast } from "../../../ui/toasts.tsx";
import { AlignChoice, PixelsField } from "./parts-of-forms.tsx";

interface ImageFormProps {
  projectId: string;
  block: Extract<Leaf, { kind: "image" }>;
  onChange: (block: Extract<Leaf, { kind: "image" }>) => void;
  onUploaded: (id: string, url: string) => void;
}

const TYPES = "image/png,image/jpeg,image/gif,image/webp";

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function ImageForm({ projectId, block, onChange, onUploaded }: ImageFormProps) {
  const config = useQuery(configQuery);
  const file = useRef<HTMLInputElement>(null);
  const toast = useToast();
  const isOpen = useIsOpen();
  const uploading = useMutation({
    mutationFn: (chosen: File) => upload(api.uploads.create, { projectId }, chosen, { part: "image" }),
    onSuccess: ({ url }) => onUploaded(block.id, url),
    onError: (error) => {
      if (!isOpen.current) toast(t("Couldn't upload the image"), error.message);
    },
  });
  return (
    <>
      {uploading.isError && <Failure error={uploading.error} />}
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field
            label={t("Image URL")}
            placeholder="https://example.com/image.png"
            value={block.url}
            onChange={({ target }) => onChange({ ...block, url: target.value })}
          />
        </div>
        {config.data?.features.storage === true && (
          <>
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
            <Button busy={uploading.isPending} onClick={() => file.current?.click()}>
              <Upload size={14} aria-hidden /> {t("Upload")}
            </Button>
          </>
        )}
      </div>
      <Field
        label={t("Alt text")}
        help={t(
          "Shown when images are blocked and read by screen readers. Leave empty for decorative images.",
        )}
        value={block.alt}
        onChange={({ target }) => onChange({ ...block, alt: target.value })}
      />
      <div className="grid gap-3 sm:grid-cols-[1fr_9rem]">
        <Field
          label={t("Link")}
          placeholder={t("No link")}
          value={block.link}
          onChange={({ target }) => onChange({ ...block, link: target.value })}
        />
        <PixelsField
          label={t("Width in pixels")}
          least={16}
          most={1200}
          placeholder={t("Auto")}
          value={block.width}
          onChange={(width) => onChange({ ...block, width })}
        />
      </div>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
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

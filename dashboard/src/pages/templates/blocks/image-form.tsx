// Edits an image or logo block: its image, alternative text and link.
import type { Leaf } from "@postloft/contract/design.ts";
import { t } from "../../../text/t.ts";
import { Field } from "../../../ui/field.tsx";
import { ImageSource } from "../../images/image-source.tsx";
import { AlignChoice, PixelsField } from "./parts-of-forms.tsx";

type ImageBlock = Extract<Leaf, { kind: "image" | "logo" }>;

interface ImageFormProps {
  projectId: string;
  block: ImageBlock;
  onChange: (block: ImageBlock) => void;
  onUploaded: (id: string, url: string) => void;
}

export function ImageForm({ projectId, block, onChange, onUploaded }: ImageFormProps) {
  return (
    <>
      <ImageSource
        projectId={projectId}
        label={t("Image URL")}
        url={block.url}
        onType={(url) => onChange({ ...block, url })}
        onUploaded={(url) => onUploaded(block.id, url)}
        onChoose={({ url, alt }) => onChange({ ...block, url, alt: block.alt === "" ? alt : block.alt })}
      />
      <Field
        label={t("Alt text")}
        help={t(
          "Shown when images are blocked and read by screen readers. Leave empty for decorative images.",
        )}
        value={block.alt}
        onChange={({ target }) => onChange({ ...block, alt: target.value })}
      />
      <div className="grid gap-3 @sm:grid-cols-[1fr_9rem]">
        <Field
          label={t("Link")}
          placeholder={t("No link")}
          value={block.link}
          onChange={({ target }) => onChange({ ...block, link: target.value })}
        />
        {block.kind === "logo" ? (
          <PixelsField
            label={t("Width in pixels")}
            least={16}
            most={600}
            value={block.width}
            onChange={(width) => onChange({ ...block, width })}
          />
        ) : (
          <PixelsField
            label={t("Width in pixels")}
            least={16}
            most={1200}
            placeholder={t("Auto")}
            value={block.width}
            onChange={(width) => onChange({ ...block, width })}
          />
        )}
      </div>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

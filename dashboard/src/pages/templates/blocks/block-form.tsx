// Edits what a block has beyond its text in the email, such as a link, its alignment or its size.
import type { Leaf } from "@postloft/contract/design.ts";
import { t } from "../../../text/t.ts";
import { Field, Select, TextArea } from "../../../ui/field.tsx";
import { ImageForm } from "./image-form.tsx";
import { FooterForm, SocialForm, UnsubscribeForm } from "./closing-forms.tsx";
import { AlignChoice, PixelsField } from "./parts-of-forms.tsx";

interface BlockFormProps<One extends Leaf> {
  projectId: string;
  block: One;
  onChange: (block: One) => void;
  /** Called when an image upload finishes, even if the block is closed by then. */
  onUploaded: (id: string, url: string) => void;
}
type FormOf<Kind extends Leaf["kind"]> = Omit<
  BlockFormProps<Extract<Leaf, { kind: Kind }>>,
  "onUploaded" | "projectId"
>;

export function BlockForm({ projectId, block, onChange, onUploaded }: BlockFormProps<Leaf>) {
  switch (block.kind) {
    case "heading":
      return <HeadingForm {...{ block, onChange }} />;
    case "text":
      return <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />;
    case "button":
      return <ButtonForm {...{ block, onChange }} />;
    case "image":
      return <ImageForm {...{ projectId, block, onChange, onUploaded }} />;
    case "space":
      return (
        <PixelsField
          label={t("Height in pixels")}
          least={4}
          most={200}
          value={block.height}
          onChange={(height) => onChange({ ...block, height })}
        />
      );
    case "html":
      return (
        <TextArea
          label={t("HTML")}
          isCode
          rows={8}
          value={block.html}
          onChange={({ target }) => onChange({ ...block, html: target.value })}
        />
      );
    case "logo":
      return <ImageForm {...{ projectId, block, onChange, onUploaded }} />;
    case "social":
      return <SocialForm block={block} onChange={onChange} />;
    case "footer":
      return <FooterForm block={block} onChange={onChange} />;
    case "unsubscribe":
      return <UnsubscribeForm block={block} onChange={onChange} />;
    case "divider":
      return <p className="text-sm text-faint">{t("A horizontal line.")}</p>;
  }
}

function HeadingForm({ block, onChange }: FormOf<"heading">) {
  return (
    <>
      <Select
        label={t("Size")}
        options={[
          { value: "1", label: t("Large") },
          { value: "2", label: t("Medium") },
          { value: "3", label: t("Small") },
        ]}
        value={String(block.level)}
        onChange={({ target }) => onChange({ ...block, level: Number(target.value) as 1 | 2 | 3 })}
      />
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

function ButtonForm({ block, onChange }: FormOf<"button">) {
  return (
    <>
      <Field
        label={t("Link")}
        placeholder="https://example.com"
        value={block.url}
        onChange={({ target }) => onChange({ ...block, url: target.value })}
      />
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

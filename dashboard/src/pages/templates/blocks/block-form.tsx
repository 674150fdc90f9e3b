// Edits one block's content and appearance.
import type { Leaf } from "@postloft/contract/design.ts";
import { lazy, Suspense } from "react";
import { t } from "../../../text/t.ts";
import { Field, Select, TextArea } from "../../../ui/field.tsx";
import { Skeleton } from "../../../ui/states.tsx";
import { useVariables } from "../../mail-editor/variables.ts";
import { ImageForm } from "./image-form.tsx";
import { FooterForm, SocialForm, UnsubscribeForm } from "./closing-forms.tsx";
import { AlignChoice, PixelsField } from "./parts-of-forms.tsx";

const RichTextEditor = lazy(async () => ({ default: (await import("./rich-text.tsx")).RichTextEditor }));

interface BlockFormProps<One extends Leaf> {
  projectId: string;
  block: One;
  onChange: (block: One) => void;
  /** Called when an image upload finishes, even if the block is closed by then. */
  onUploaded: (id: string, url: string) => void;
}
type FormOf<Kind extends Leaf["kind"]> = Omit<BlockFormProps<Extract<Leaf, { kind: Kind }>>, "onUploaded">;

export function BlockForm({ projectId, block, onChange, onUploaded }: BlockFormProps<Leaf>) {
  switch (block.kind) {
    case "heading":
      return <HeadingForm {...{ projectId, block, onChange }} />;
    case "text":
      return <TextForm {...{ projectId, block, onChange }} />;
    case "button":
      return <ButtonForm {...{ projectId, block, onChange }} />;
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
      <div className="grid gap-3 sm:grid-cols-[1fr_9rem]">
        <Field
          label={t("Heading")}
          value={block.text}
          onChange={({ target }) => onChange({ ...block, text: target.value })}
        />
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
      </div>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

function TextForm({ projectId, block, onChange }: FormOf<"text">) {
  const variables = useVariables(projectId);
  return (
    <>
      <Suspense fallback={<Skeleton className="h-32" />}>
        <RichTextEditor
          value={block.text}
          onChange={(text) => onChange({ ...block, text })}
          variables={variables}
        />
      </Suspense>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

function ButtonForm({ block, onChange }: FormOf<"button">) {
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={t("Label")}
          value={block.label}
          onChange={({ target }) => onChange({ ...block, label: target.value })}
        />
        <Field
          label={t("Link")}
          placeholder="https://example.com"
          value={block.url}
          onChange={({ target }) => onChange({ ...block, url: target.value })}
        />
      </div>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

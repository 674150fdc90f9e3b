// Shows a block as it looks in the email. Texts are edited in it.
import {
  alignedStyle,
  buttonStyle,
  DIVIDER_STYLE,
  headingStyle,
  imageStyle,
  linkStyle,
  SMALL,
  spaceStyle,
} from "@postloft/contract/design-styles.ts";
import type { Leaf } from "@postloft/contract/design.ts";
import { legibleInk } from "@postloft/contract/color.ts";
import { footerStyle, type FooterLook } from "@postloft/contract/footer-frame.ts";
import { SERVICE_NAMES } from "@postloft/contract/social-links.ts";
import { ImageOff } from "lucide-react";
import { lazy, Suspense } from "react";
import { t } from "../../../text/t.ts";
import { MailFrame } from "../../../ui/mail-frame.tsx";
import { Skeleton } from "../../../ui/states.tsx";
import { useVariables } from "../../mail-editor/variables.ts";
import { useProject } from "../../project-shell.tsx";
import { useCanvas } from "./canvas-context.ts";
import { PlainText } from "./plain-text.tsx";
import { styleOf } from "./style-of.ts";

const RichTextEditor = lazy(async () => ({
  default: (await import("../blocks/rich-text.tsx")).RichTextEditor,
}));

interface ContentProps<One extends Leaf> {
  block: One;
  onChange: (block: One) => void;
}
type ContentOf<Kind extends Leaf["kind"]> = ContentProps<Extract<Leaf, { kind: Kind }>>;

export function BlockContent({ block, onChange }: ContentProps<Leaf>) {
  switch (block.kind) {
    case "heading":
      return (
        <PlainText
          label={t("Heading")}
          value={block.text}
          style={{ ...styleOf(headingStyle(block)), fontWeight: "bold" }}
          onChange={(text) => onChange({ ...block, text })}
        />
      );
    case "text":
      return <TextContent {...{ block, onChange }} />;
    case "button":
      return <ButtonContent {...{ block, onChange }} />;
    case "image":
    case "logo":
      return <ImageContent block={block} />;
    case "divider":
      return <hr style={styleOf(DIVIDER_STYLE)} />;
    case "space":
      return <div style={styleOf(spaceStyle(block.height))} />;
    case "html":
      return <MailFrame title={t("HTML")} html={block.html} className="block h-60 w-full resize-y" />;
    case "social":
      return <SocialContent block={block} />;
    case "footer":
      return <FooterContent block={block} />;
    case "unsubscribe":
      return <UnsubscribeContent {...{ block, onChange }} />;
  }
}

function TextContent({ block, onChange }: ContentOf<"text">) {
  const { projectId } = useCanvas();
  const variables = useVariables(projectId);
  return (
    <div data-align={block.align} className="mail-text">
      <Suspense fallback={<Skeleton className="mb-4 h-6" />}>
        <RichTextEditor
          value={block.text}
          onChange={(text) => onChange({ ...block, text })}
          variables={variables}
        />
      </Suspense>
    </div>
  );
}

function ButtonContent({ block, onChange }: ContentOf<"button">) {
  const { look } = useCanvas();
  return (
    <div style={styleOf(alignedStyle(block.align))}>
      <PlainText
        label={t("Label")}
        value={block.label}
        style={styleOf(buttonStyle(look))}
        onChange={(label) => onChange({ ...block, label })}
      />
    </div>
  );
}

function ImageContent({ block }: { block: Extract<Leaf, { kind: "image" | "logo" }> }) {
  return (
    <div style={styleOf(alignedStyle(block.align))}>
      {block.url === "" ? (
        <span className="flex h-28 items-center justify-center gap-2 rounded-md border border-dashed border-line-strong bg-side text-sm text-soft">
          <ImageOff size={16} aria-hidden /> {t("No image yet")}
        </span>
      ) : (
        <img
          src={block.url}
          alt={block.alt}
          width={block.width ?? undefined}
          draggable={false}
          style={styleOf(imageStyle(block.width))}
        />
      )}
    </div>
  );
}

const SEPARATOR = <span aria-hidden> · </span>;

function SocialContent({ block }: { block: Extract<Leaf, { kind: "social" }> }) {
  const { look } = useCanvas();
  const shown = block.links.filter(({ url }) => url.trim() !== "");
  return (
    <div style={styleOf(alignedStyle(block.align, SMALL))}>
      {shown.length === 0 && <span className="text-sm opacity-70">{t("Social links")}</span>}
      {shown.map(({ service }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- links have no identity but their position
        <span key={at}>
          {at > 0 && SEPARATOR}
          <span style={styleOf(linkStyle(look))} className="underline">
            {SERVICE_NAMES[service]}
          </span>
        </span>
      ))}
    </div>
  );
}

/** The footer that the email gets below its blocks when it is sent, because they contain none. */
export function AddedFooter() {
  const { brand } = useProject();
  const { ink, background, width } = useCanvas().look;
  return (
    <div className="mx-auto mt-6" style={{ maxWidth: width }}>
      <FooterParts
        ink={legibleInk(ink, background)}
        background={background}
        align={brand.footerAlign}
        note={t("We add this footer when the email is sent.")}
      />
    </div>
  );
}

function FooterContent({ block: { align } }: { block: Extract<Leaf, { kind: "footer" }> }) {
  const { ink, surface } = useCanvas().look;
  return <FooterParts ink={ink} background={surface} align={align} />;
}

interface FooterPartsProps extends FooterLook {
  background: string;
  note?: string;
}

/** The footer is rendered for each recipient, so the canvas names its parts. */
function FooterParts({ background, note, ...look }: FooterPartsProps) {
  const { name, postalAddress } = useProject();
  return (
    <div style={styleOf(footerStyle(look, background))}>
      {note !== undefined && <p className="text-sm font-medium">{note}</p>}
      <p className="text-sm">
        {t("Unsubscribe links, postal address and logo, in each recipient's language.")}
      </p>
      <p className="text-sm">
        <bdi>{postalAddress ?? name}</bdi>
      </p>
    </div>
  );
}

function UnsubscribeContent({ block, onChange }: ContentOf<"unsubscribe">) {
  const { look } = useCanvas();
  const style = { ...styleOf(linkStyle(look)), display: "inline-block", textDecoration: "underline" };
  return (
    <div style={styleOf(alignedStyle(block.align, SMALL))}>
      <PlainText
        label={t("Unsubscribe label")}
        value={block.label}
        style={style}
        onChange={(label) => onChange({ ...block, label })}
      />
      {block.manageLabel.trim() !== "" && (
        <>
          {SEPARATOR}
          <PlainText
            label={t("Subscription page label")}
            value={block.manageLabel}
            style={style}
            onChange={(manageLabel) => onChange({ ...block, manageLabel })}
          />
        </>
      )}
    </div>
  );
}

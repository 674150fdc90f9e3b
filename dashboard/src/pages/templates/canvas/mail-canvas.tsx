// The email itself, at its real width and in its own styles. Its texts are edited in place, and its blocks are moved and changed in it.
import {
  bodyStyle,
  innerStyle,
  linkStyle,
  LIST_ITEM_STYLE,
  LIST_STYLE,
  NARROW_INNER,
  PAGE_PADDING,
  paragraphStyle,
  surfaceStyle,
} from "@postloft/contract/design-styles.ts";
import type { Design, Look } from "@postloft/contract/design.ts";
import { useMemo, type KeyboardEvent, type SyntheticEvent } from "react";
import { t } from "../../../text/t.ts";
import { useProject } from "../../project-shell.tsx";
import { BLOCK_KINDS, inserted, newBlock, placed } from "../blocks/block-tree.ts";
import { ALIGNMENTS } from "../blocks/parts-of-forms.tsx";
import { AddBlock } from "./add-block.tsx";
import { AddedFooter } from "./block-content.tsx";
import { BlockList } from "./block-list.tsx";
import { CanvasContext, type Canvas } from "./canvas-context.ts";
import { styleOf } from "./style-of.ts";
import { useDragging } from "./use-dragging.ts";

interface MailCanvasProps extends Pick<
  Canvas,
  "projectId" | "isNarrow" | "selected" | "onSelect" | "bar" | "settings" | "onUploaded"
> {
  design: Design;
  getsFooter: boolean;
  onChange: (blocks: Design["blocks"]) => void;
}

export function MailCanvas({ design, getsFooter, onChange, ...shared }: MailCanvasProps) {
  const project = useProject();
  const { look, blocks } = design;
  const { isNarrow, selected, onSelect } = shared;
  const dragging = useDragging((id, place) => {
    onChange(placed(blocks, id, place));
    onSelect(id);
  });
  /** Selects the block that was clicked or reached with Tab. Its handle selects it only when pressed. */
  const select = ({ target }: SyntheticEvent) => {
    if (!(target instanceof Element) || target.closest("[data-handle]") !== null) return;
    const id = target.closest<HTMLElement>("[data-block]")?.dataset["block"];
    if (id !== undefined && id !== selected) onSelect(id);
  };
  const page = { ...styleOf(bodyStyle(look)), ...styleOf(PAGE_PADDING) };
  const inner = { ...styleOf(innerStyle(look)), ...(isNarrow ? styleOf(NARROW_INNER) : {}) };
  return (
    <CanvasContext value={{ ...shared, look, onDrag: dragging.start, dropPlace: dragging.place }}>
      <TextStyles look={look} />
      <div
        data-canvas
        role="group"
        aria-label={t("Email content")}
        lang={design.language}
        className={`mail-canvas rounded-md border border-line ${dragging.place === null ? "" : "cursor-grabbing select-none"}`}
        style={page}
        onPointerDown={select}
        onFocus={select}
        onKeyDown={(event) => {
          // Escape also ends the composition of a character.
          if (!event.nativeEvent.isComposing) leaveByKey(event, shared.bar);
        }}
      >
        <div className="mx-auto" style={styleOf(surfaceStyle(look))}>
          <div style={inner}>
            <BlockList blocks={blocks} kinds={BLOCK_KINDS} column={null} onChange={onChange} />
          </div>
        </div>
        {getsFooter && <AddedFooter />}
      </div>
      <div className="mt-3">
        <AddBlock
          kinds={BLOCK_KINDS}
          onAdd={(kind) => {
            const block = newBlock(kind, project);
            onChange(inserted(blocks, blocks.length, block));
            onSelect(block.id);
            return block.id;
          }}
        />
      </div>
    </CanvasContext>
  );
}

/** Alt+F10 leads from a block to its tools, as in other editors, and Escape from its text to its handle. */
function leaveByKey(event: KeyboardEvent, bar: HTMLElement | null): void {
  const block = event.target instanceof Element ? event.target.closest("[data-block]") : null;
  const target =
    event.key === "F10" && event.altKey
      ? bar?.querySelector<HTMLElement>("button:not(:disabled)")
      : event.key === "Escape"
        ? block?.querySelector<HTMLElement>(":scope > [data-handle]")
        : null;
  if (target == null || target === event.target) return;
  event.preventDefault();
  event.stopPropagation();
  target.focus();
}

/** Kinds of blocks with a margin below, which contains the one above a line in the email but not between frames. */
const WITH_MARGIN = ["heading", "text", "button", "image", "logo", "social", "unsubscribe"]
  .map((kind) => `[data-kind=${kind}]`)
  .join(",");

/** The styles of formatted text, because its editor creates the elements. */
function TextStyles({ look }: { look: Look }) {
  const css = useMemo(
    () =>
      [
        ...ALIGNMENTS.map(({ value }) => `.mail-text[data-align=${value}] p{${paragraphStyle(value)}}`),
        `.mail-text :is(ul,ol){${LIST_STYLE};text-align:left}`,
        `.mail-text li{${LIST_ITEM_STYLE}}`,
        ".mail-text[data-align] li p{margin:0;text-align:left}",
        `.mail-text a{${linkStyle(look)}}`,
        `:is(${WITH_MARGIN})+[data-gap]+[data-kind=divider] hr{margin-top:0!important}`,
      ].join("\n"),
    [look],
  );
  return <style>{css}</style>;
}

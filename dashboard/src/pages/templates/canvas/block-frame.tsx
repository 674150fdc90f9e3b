// Surrounds a block in the email: its handle, its toolbar and its settings.
import type { Block, Leaf } from "@postloft/contract/design.ts";
import {
  ArrowDown,
  ArrowUp,
  Copy,
  GripVertical,
  SlidersHorizontal,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import { createPortal, flushSync } from "react-dom";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { BLOCK_NAMES, summaryOf } from "../blocks/block-tree.ts";
import { BlockForm } from "../blocks/block-form.tsx";
import { ColumnsForm } from "../blocks/columns-form.tsx";
import { ToolsContext, useCanvas } from "./canvas-context.ts";
import { focusableOf, focusFirst } from "./focus-block.ts";
import { TOOL_CLASS } from "./tool-class.ts";

interface BlockFrameProps {
  block: Block;
  isFirst: boolean;
  isLast: boolean;
  onChange: (block: Block) => void;
  onMove: (by: -1 | 1) => void;
  onDuplicate: () => void;
  onRemove: () => void;
  children: ReactNode;
}

export function BlockFrame({ block, onChange, children, ...actions }: BlockFrameProps) {
  const { selected, bar, settings } = useCanvas();
  const [tools, setTools] = useState<HTMLElement | null>(null);
  const [isOpen, setOpen] = useState(false);
  /** An image has no text to click, so a click opens its settings. */
  const opensByClick = settings === null && (block.kind === "image" || block.kind === "logo");
  const isSelected = selected === block.id;
  return (
    <div
      data-block={block.id}
      data-kind={block.kind}
      className={`group/block relative rounded-sm outline-offset-4 ${isSelected ? "z-[2] outline-2 outline-accent-fill" : "hover:outline-1 hover:outline-line-strong"}`}
    >
      <Handle block={block} isSelected={isSelected} />
      <div className="flow-root min-w-0 wrap-anywhere" onClick={() => opensByClick && setOpen(true)}>
        <ToolsContext value={isSelected ? tools : null}>{children}</ToolsContext>
      </div>
      {isSelected && <ToTools />}
      {isSelected &&
        bar !== null &&
        createPortal(
          <div
            role="toolbar"
            aria-label={BLOCK_NAMES[block.kind]}
            className="contents"
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              event.stopPropagation();
              focusableOf(block.id)?.focus();
            }}
          >
            <span ref={setTools} className="contents" />
            <Actions {...actions} />
          </div>,
          bar,
        )}
      {isSelected && <Settings {...{ block, onChange, isOpen, setOpen }} />}
    </div>
  );
}

/** Appears when Tab reaches it after the text of the block, and leads to the bar above the email. */
function ToTools() {
  const { bar } = useCanvas();
  return (
    <button
      type="button"
      onClick={() => focusFirst(bar)}
      className="absolute top-full left-0 z-10 rounded-md bg-raised px-2 py-1 text-sm text-ink not-focus:sr-only focus:shadow-float"
    >
      {t("Block tools")}
    </button>
  );
}

function Handle({ block, isSelected }: { block: Block; isSelected: boolean }) {
  const { onSelect, onDrag } = useCanvas();
  const name = `${BLOCK_NAMES[block.kind]} ${summaryOf(block)}`.trim();
  return (
    // The handle of columns is on the right, because the one of their first block is on the left.
    <button
      type="button"
      data-handle
      title={t("Drag to move")}
      aria-label={name}
      aria-expanded={isSelected}
      onClick={() => onSelect(isSelected ? null : block.id)}
      onPointerDown={(event) => onDrag(event, block)}
      className={`absolute top-0 grid size-6 cursor-grab touch-none place-items-center rounded-sm border border-line bg-surface text-faint opacity-0 group-hover/block:opacity-100 hover:text-ink focus-visible:opacity-100 aria-expanded:text-accent aria-expanded:opacity-100 pointer-coarse:opacity-100 ${block.kind === "columns" ? "-right-7" : "-left-7"}`}
    >
      <GripVertical size={14} aria-hidden />
    </button>
  );
}

type ActionsProps = Pick<BlockFrameProps, "isFirst" | "isLast" | "onMove" | "onDuplicate" | "onRemove">;

function Actions({ isFirst, isLast, onMove, onDuplicate, onRemove }: ActionsProps) {
  const all: Array<{ label: string; icon: LucideIcon; isOff: boolean; run: () => void }> = [
    { label: t("Move up"), icon: ArrowUp, isOff: isFirst, run: () => onMove(-1) },
    { label: t("Move down"), icon: ArrowDown, isOff: isLast, run: () => onMove(1) },
    { label: t("Duplicate"), icon: Copy, isOff: false, run: onDuplicate },
    { label: t("Remove"), icon: Trash2, isOff: false, run: onRemove },
  ];
  return all.map(({ label, icon: Icon, isOff, run }) => (
    <button
      key={label}
      type="button"
      title={label}
      aria-label={label}
      disabled={isOff}
      onClick={({ currentTarget }) => {
        // Browsers take the focus from an element that moves.
        flushSync(run);
        if (currentTarget.isConnected) currentTarget.focus();
      }}
      className={TOOL_CLASS}
    >
      <Icon size={15} aria-hidden />
    </button>
  ));
}

interface SettingsProps {
  block: Block;
  onChange: (block: Block) => void;
  /** Whether the dialog is open. */
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
}

/** The settings of a block, which have no place in the email. They are in the side panel, or in a dialog if there is no room for the panel. */
function Settings({ block, onChange, isOpen, setOpen }: SettingsProps) {
  const { projectId, settings, bar, onUploaded } = useCanvas();
  const form =
    block.kind === "columns" ? (
      <ColumnsForm block={block} onChange={onChange} />
    ) : (
      <BlockForm
        projectId={projectId}
        block={block}
        onChange={(leaf: Leaf) => onChange(leaf)}
        onUploaded={onUploaded}
      />
    );
  const panel = useRef<HTMLElement>(null);
  const open = () => (settings === null ? setOpen(true) : focusFirst(panel.current));
  return (
    <>
      {bar !== null &&
        createPortal(
          <button
            type="button"
            title={t("Settings")}
            aria-label={t("Settings")}
            onClick={open}
            className={TOOL_CLASS}
          >
            <SlidersHorizontal size={15} aria-hidden />
          </button>,
          bar,
        )}
      {settings !== null &&
        createPortal(
          <section
            ref={panel}
            aria-label={BLOCK_NAMES[block.kind]}
            className="flex flex-col gap-3 rounded-md border border-line bg-surface p-3"
          >
            <h2 className="text-sm font-medium">{BLOCK_NAMES[block.kind]}</h2>
            {form}
          </section>,
          settings,
        )}
      <Dialog
        title={BLOCK_NAMES[block.kind]}
        open={isOpen && settings === null}
        onClose={() => setOpen(false)}
      >
        <div className="@container flex flex-col gap-3">
          {form}
          <span className="flex justify-end">
            <Button look="primary" onClick={() => setOpen(false)}>
              {t("Done")}
            </Button>
          </span>
        </div>
      </Dialog>
    </>
  );
}

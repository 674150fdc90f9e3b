// Edits an email made of blocks in the email itself, with undo and redo. A side panel has what has no place in the email.
import type { Design } from "@postloft/contract/design.ts";
import { Redo2, Undo2 } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Choices } from "../../../ui/choices.tsx";
import { useWidth } from "../../../ui/use-width.ts";
import { MailCanvas } from "../canvas/mail-canvas.tsx";
import { outlineOf, withImage } from "./block-tree.ts";
import { LookForm } from "./style-form.tsx";
import { useHistory } from "./use-history.ts";

export interface BlockEditorProps {
  projectId: string;
  design: Design;
  /** Whether the email gets a footer that is not one of its blocks. */
  getsFooter: boolean;
  onChange: (design: Design) => void;
  /** The error of the last save. */
  error: unknown;
  /** Problems of the email as it is now. */
  remarks: ReactNode;
  /** Controls next to the views, such as other editors. */
  ways: ReactNode;
  /** Inputs for what has no place in the email, such as its subject. */
  fields: ReactNode;
  preview: ReactNode;
  /** Content below the email. */
  foot: ReactNode;
  /** Content below the inputs. */
  aside: ReactNode;
}

const hasSameOutline = (before: Design, after: Design) =>
  outlineOf(before.blocks) === outlineOf(after.blocks);

/** Returns a ref to the latest callback, for uploads that finish after later renders. Null once the editor is unmounted. */
function useLatest<Work>(work: Work) {
  const latest = useRef<Work | null>(null);
  useEffect(() => {
    latest.current = work;
    return () => {
      latest.current = null;
    };
  });
  return latest;
}

type View = "desktop" | "phone" | "preview";

/** Widths in pixels. */
const PHONE = 376;
const PANEL = 288;
const GAP = 24;
/** The padding of the page around the email. */
const AROUND = 24;

export function BlockEditor({ fields, foot, aside, ...props }: BlockEditorProps) {
  const { design, onChange } = props;
  // The preview text is edited outside of the history, so undo keeps it.
  const put = (next: Design) => onChange({ ...next, preheader: design.preheader });
  const history = useHistory(design, put, hasSameOutline);
  const [measure, width] = useWidth();
  const [settings, setSettings] = useState<HTMLElement | null>(null);
  const isWide = width !== null && width >= design.look.width + AROUND + GAP + PANEL;
  const styles = <Styles design={design} onChange={history.change} />;
  const canvas = (
    <div key="canvas" className="flex min-w-0 flex-col gap-4">
      {width !== null && (
        <Editing {...props} history={history} settings={isWide ? settings : null} width={width} />
      )}
      {!isWide && styles}
      {foot}
      {!isWide && aside}
    </div>
  );
  const panel = (
    <div
      key="panel"
      className={`@container flex min-w-0 flex-col gap-4 ${isWide ? "sticky top-4 max-h-[calc(100dvh-2rem)] overflow-y-auto p-1 -m-1" : ""}`}
    >
      <div ref={setSettings} className="empty:hidden" />
      {fields}
      {isWide && styles}
      {isWide && aside}
    </div>
  );
  return (
    <div
      ref={measure}
      className="grid items-start gap-6"
      style={isWide ? { gridTemplateColumns: `minmax(0,1fr) ${PANEL}px` } : {}}
    >
      {isWide ? [canvas, panel] : [panel, canvas]}
    </div>
  );
}

interface EditingProps extends Omit<BlockEditorProps, "fields" | "foot" | "aside" | "onChange"> {
  history: ReturnType<typeof useHistory<Design>>;
  settings: HTMLElement | null;
  /** The room for the editor, in pixels. */
  width: number;
}

function Editing({ projectId, design, history, error, ...props }: EditingProps) {
  const { getsFooter, remarks, ways, preview, settings, width } = props;
  const { change, undo, redo } = history;
  const [view, setView] = useState<View>(width < design.look.width ? "phone" : "desktop");
  const [selected, setSelected] = useState<string | null>(null);
  const [bar, setBar] = useState<HTMLElement | null>(null);
  const insertImage = useLatest((id: string, url: string) => {
    const isThere = outlineOf(design.blocks).includes(id);
    if (isThere) change({ ...design, blocks: withImage(design.blocks, id, url) });
  });
  const problem = problemWith(error, "design") ?? problemWith(error, "body");
  const isNarrow = view === "phone";
  return (
    <section aria-label={t("Email")} onKeyDownCapture={(event) => undoByKey(event, undo, redo)}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <Choices
          label={t("View")}
          options={[
            { value: "desktop", label: t("Desktop") },
            { value: "phone", label: t("Phone") },
            { value: "preview", label: t("Preview") },
          ]}
          value={view}
          onChoose={setView}
        />
        <span className="flex flex-wrap gap-1">
          {ways}
          <Button look="quiet" aria-label={t("Undo")} disabled={undo === null} onClick={() => undo?.()}>
            <Undo2 size={14} aria-hidden />
          </Button>
          <Button look="quiet" aria-label={t("Redo")} disabled={redo === null} onClick={() => redo?.()}>
            <Redo2 size={14} aria-hidden />
          </Button>
        </span>
      </div>
      {problem !== undefined && (
        <p role="alert" className="mb-2 text-sm text-bad">
          {problem}
        </p>
      )}
      {view === "preview" ? (
        preview
      ) : (
        <>
          {remarks}
          <div className="sticky top-2 z-10 mb-2 flex min-h-10 items-center rounded-md border border-line bg-raised p-1">
            <div ref={setBar} className="peer flex w-full flex-wrap items-center gap-0.5 empty:hidden" />
            <p className="hidden px-2 text-sm text-soft peer-empty:block">
              {t("Click a text to edit it. Drag blocks by their handles.")}
            </p>
          </div>
          <div className="mx-auto max-w-full" style={isNarrow ? { width: PHONE } : {}}>
            <MailCanvas
              {...{ projectId, design, getsFooter, isNarrow, selected, bar, settings }}
              onSelect={setSelected}
              onChange={(blocks) => change({ ...design, blocks })}
              onUploaded={(id, url) => insertImage.current?.(id, url)}
            />
          </div>
        </>
      )}
    </section>
  );
}

type Step = (() => void) | null;

/** Undoes and redoes with the usual keys, also while the caret is in a text, because the texts have no undo of their own. */
function undoByKey(event: KeyboardEvent, undo: Step, redo: Step): void {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const isInput = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (isInput) return;
  const key = event.key.toLowerCase();
  const isRedo = (key === "z" && event.shiftKey) || key === "y";
  if (key !== "z" && !isRedo) return;
  event.preventDefault();
  event.stopPropagation();
  (isRedo ? redo : undo)?.();
}

function Styles({ design, onChange }: Pick<BlockEditorProps, "design" | "onChange">) {
  return (
    <details className="rounded-md border border-line">
      <summary className="cursor-pointer rounded-md px-3 py-2 text-sm font-medium hover:bg-hover">
        {t("Styles")}
      </summary>
      <div className="border-t border-line p-3">
        <LookForm design={design} onChange={onChange} />
      </div>
    </details>
  );
}

// Edits an email as blocks, with undo and redo.
import type { Design } from "@postloft/contract/design.ts";
import { Redo2, Undo2 } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { BlockList } from "./block-list.tsx";
import { BLOCK_KINDS, outlineOf, withImage } from "./block-tree.ts";
import { LookForm } from "./style-form.tsx";
import { useHistory } from "./use-history.ts";

interface BlockEditorProps {
  projectId: string;
  design: Design;
  onChange: (design: Design) => void;
  /** The error of the last save. */
  error: unknown;
  /** Controls next to the heading, such as other editors. */
  ways: ReactNode;
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

export function BlockEditor({ projectId, design, onChange, error, ways }: BlockEditorProps) {
  const { change, undo, redo } = useHistory(design, onChange, hasSameOutline);
  const [open, setOpen] = useState<string | null>(null);
  const insertImage = useLatest((id: string, url: string) => {
    const isThere = outlineOf(design.blocks).includes(id);
    if (isThere) change({ ...design, blocks: withImage(design.blocks, id, url) });
  });
  const problem = problemWith(error, "design") ?? problemWith(error, "body");
  return (
    <section aria-label={t("Blocks")}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-sm font-medium">{t("Blocks")}</h2>
        <span className="flex gap-1">
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
      <BlockList
        projectId={projectId}
        blocks={design.blocks}
        kinds={BLOCK_KINDS}
        open={open}
        onOpen={setOpen}
        onChange={(blocks) => change({ ...design, blocks })}
        onUploaded={(id, url) => insertImage.current?.(id, url)}
      />
      <details className="mt-4 rounded-md border border-line">
        <summary className="cursor-pointer rounded-md px-3 py-2 text-sm font-medium hover:bg-hover">
          {t("Styles")}
        </summary>
        <div className="border-t border-line p-3">
          <LookForm design={design} onChange={change} />
        </div>
      </details>
    </section>
  );
}

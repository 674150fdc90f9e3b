// Edits a template or campaign as blocks or HTML. Switching asks before anything is lost.
import { designHtml } from "@postloft/contract/design-html.ts";
import type { Design } from "@postloft/contract/design.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import { lazy, Suspense, useState } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Skeleton } from "../../ui/states.tsx";
import type { MailTextDraft } from "../mail-editor/mail-preview.tsx";
import { HtmlField } from "../mail-editor/mail-text.tsx";
import { MergeTagBanner } from "../mail-editor/merge-tag-banner.tsx";
import { useProject } from "../project-shell.tsx";
import { designOf, newBlock } from "./blocks/block-tree.ts";

const BlockEditor = lazy(async () => ({
  default: (await import("./blocks/block-editor.tsx")).BlockEditor,
}));

/** The body and the blocks that generate it; `design` is null for HTML. */
export interface Written extends MailTextDraft {
  /** Empty for blocks, because their design contains it. */
  previewText: string;
  design: Design | null;
}

interface WritingProps {
  projectId: string;
  /** The project's language, used for the texts of new blocks. */
  language: string;
  draft: Written & { type: TemplateType };
  onChange: (change: Partial<Written>) => void;
  error: unknown;
  /** Whether previous versions can be restored. */
  hasVersions: boolean;
  /** The line at which to start. */
  line?: number | undefined;
}

export function Writing({ projectId, language, draft, onChange, error, hasVersions, line }: WritingProps) {
  const [isLeaving, setLeaving] = useState(false);
  const { brand } = useProject();
  const change = (design: Design) => onChange({ design, body: designHtml(design) });
  const close = () => setLeaving(false);
  const isBlocks = draft.design !== null;
  const way = (
    <Button look="quiet" onClick={() => setLeaving(true)}>
      {isBlocks ? t("Convert to HTML") : t("Use the block editor")}
    </Button>
  );
  return (
    <>
      <MergeTagBanner draft={draft} onChange={onChange} />
      {draft.design === null ? (
        <HtmlField
          line={line}
          projectId={projectId}
          draft={draft}
          kind={draft.type}
          onChange={(body) => onChange({ body })}
          error={error}
          ways={way}
        />
      ) : (
        <Suspense fallback={<Skeleton className="h-112" />}>
          <BlockEditor
            projectId={projectId}
            design={draft.design}
            onChange={change}
            error={error}
            ways={way}
          />
        </Suspense>
      )}
      {isLeaving && isBlocks && (
        <ToHtml
          hasVersions={hasVersions}
          onGo={() => {
            if (draft.design !== null) onChange(asHtml(draft.design));
            close();
          }}
          onClose={close}
        />
      )}
      {isLeaving && !isBlocks && (
        <ToBlocks
          hasVersions={hasVersions}
          isDocument={/<(?:!doctype|html|head|body)\b/i.test(draft.body)}
          onGo={(keepsHtml) => {
            const kept = { ...newBlock("html"), html: draft.body } as Design["blocks"][number];
            const design = designOf(keepsHtml ? [kept] : [newBlock("text")], { language, brand });
            const withText = { ...design, preheader: draft.previewText };
            onChange({ design: withText, previewText: "", body: designHtml(withText) });
            close();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

/** Returns blocks as HTML with a separate preview text. */
function asHtml(design: Design) {
  const body = designHtml({ ...design, preheader: "" });
  return { design: null, previewText: design.preheader, body };
}

interface ToHtmlProps {
  hasVersions: boolean;
  onGo: () => void;
  onClose: () => void;
}

function ToHtml({ hasVersions, onGo, onClose }: ToHtmlProps) {
  return (
    <Dialog
      title={t("Convert to HTML?")}
      description={
        hasVersions
          ? t("You'll edit the HTML instead of blocks. The blocks stay in the version history when you save.")
          : t("You'll edit the HTML instead of blocks. You can't get the blocks back.")
      }
      open
      onClose={onClose}
    >
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button look="primary" onClick={onGo}>
          {t("Convert to HTML")}
        </Button>
      </div>
    </Dialog>
  );
}

interface ToBlocksProps {
  hasVersions: boolean;
  /** Whether the HTML is a whole document, which no block can hold. */
  isDocument: boolean;
  onGo: (keepsHtml: boolean) => void;
  onClose: () => void;
}

function ToBlocks({ hasVersions, isDocument, onGo, onClose }: ToBlocksProps) {
  const emptied = hasVersions
    ? t(
        "This email is a full HTML page, so the block editor starts empty. The current version stays in the version history when you save.",
      )
    : t(
        "This email is a full HTML page, so the block editor starts empty. You will lose the current content.",
      );
  return (
    <Dialog
      title={t("Use the block editor?")}
      description={isDocument ? emptied : t("Keep the HTML as one block, or start with an empty email.")}
      open
      onClose={onClose}
    >
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button look={isDocument ? "primary" : "plain"} onClick={() => onGo(false)}>
          {t("Start empty")}
        </Button>
        {!isDocument && (
          <Button look="primary" onClick={() => onGo(true)}>
            {t("Keep as a block")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

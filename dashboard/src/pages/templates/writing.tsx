// How a template or a campaign is written: as blocks, or as HTML; and the way from one to the other, which loses nothing without a word.
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
import { designOf, newBlock } from "./blocks/block-tree.ts";

const BlockEditor = lazy(async () => ({
  default: (await import("./blocks/block-editor.tsx")).BlockEditor,
}));

/** What it says: its body, and the blocks that make it; null where it was written as HTML. */
export type Written = MailTextDraft & { design: Design | null };

interface WritingProps {
  projectId: string;
  /** Of the project: what new blocks are written in. */
  language: string;
  draft: Written & { type: TemplateType };
  onChange: (change: Partial<Written>) => void;
  error: unknown;
  /** Whether what it said before can be brought back. */
  hasVersions: boolean;
  /** A line of the HTML to begin at. */
  line?: number | undefined;
}

export function Writing({ projectId, language, draft, onChange, error, hasVersions, line }: WritingProps) {
  const [isLeaving, setLeaving] = useState(false);
  const change = (design: Design) => onChange({ design, body: designHtml(design) });
  const close = () => setLeaving(false);
  const isBlocks = draft.design !== null;
  const way = (
    <Button look="quiet" onClick={() => setLeaving(true)}>
      {isBlocks ? t("Go on in HTML") : t("Write with blocks")}
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
            onChange({ design: null });
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
            change(designOf(keepsHtml ? [kept] : [newBlock("text")], language));
            close();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

interface ToHtmlProps {
  hasVersions: boolean;
  onGo: () => void;
  onClose: () => void;
}

function ToHtml({ hasVersions, onGo, onClose }: ToHtmlProps) {
  return (
    <Dialog
      title={t("Go on in HTML?")}
      description={
        hasVersions
          ? t(
              "The HTML stays as the blocks made it. The blocks themselves go when you save; they stay among the earlier versions.",
            )
          : t("The HTML stays as the blocks made it. The blocks themselves go and do not come back.")
      }
      open
      onClose={onClose}
    >
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Keep the blocks")}
        </Button>
        <Button look="primary" onClick={onGo}>
          {t("Go on in HTML")}
        </Button>
      </div>
    </Dialog>
  );
}

interface ToBlocksProps {
  hasVersions: boolean;
  /** A whole page of HTML, which no block can hold. */
  isDocument: boolean;
  onGo: (keepsHtml: boolean) => void;
  onClose: () => void;
}

function ToBlocks({ hasVersions, isDocument, onGo, onClose }: ToBlocksProps) {
  const emptied = hasVersions
    ? t(
        "This mail is a whole page of HTML, which no block can hold: the blocks begin empty. What it says now stays among the earlier versions when you save.",
      )
    : t(
        "This mail is a whole page of HTML, which no block can hold: the blocks begin empty, and what it says now goes.",
      );
  return (
    <Dialog
      title={t("Write with blocks?")}
      description={
        isDocument
          ? emptied
          : t(
              "The HTML can go into a block as it is, with others around it, or you begin with an empty mail.",
            )
      }
      open
      onClose={onClose}
    >
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Keep the HTML")}
        </Button>
        <Button look={isDocument ? "primary" : "plain"} onClick={() => onGo(false)}>
          {t("Begin empty")}
        </Button>
        {!isDocument && (
          <Button look="primary" onClick={() => onGo(true)}>
            {t("Put it into a block")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

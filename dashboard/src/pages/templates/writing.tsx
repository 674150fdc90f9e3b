// Edits a template or campaign as blocks, in the email itself, or as HTML next to its preview. Switching asks before anything is lost.
import { designHtml } from "@postloft/contract/design-html.ts";
import type { Design } from "@postloft/contract/design.ts";
import { OPT_OUT_VARIABLES } from "@postloft/contract/footer-frame.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { DraftRemarks, MailPreview, type MailDraft } from "../mail-editor/mail-preview.tsx";
import { HtmlField } from "../mail-editor/mail-text.tsx";
import { MergeTagBanner } from "../mail-editor/merge-tag-banner.tsx";
import { useProject } from "../project-shell.tsx";
import { designOf, newBlock } from "./blocks/block-tree.ts";
import { ToBlocks, ToHtml } from "./switch-dialogs.tsx";

const OWN_LINKS = new RegExp(OPT_OUT_VARIABLES.join("|"));

const BlockEditor = lazy(async () => ({
  default: (await import("./blocks/block-editor.tsx")).BlockEditor,
}));

/** The body and the blocks that generate it; `design` is null for HTML. */
export interface Written {
  subject: string;
  body: string;
  /** Empty for blocks, because their design contains it. */
  previewText: string;
  design: Design | null;
}

interface WritingProps {
  projectId: string;
  /** The project's language, used for the texts of new blocks. */
  language: string;
  /** The language of the email, if it is known. */
  locale?: string;
  draft: Written & MailDraft & { type: TemplateType };
  onChange: (change: Partial<Written>) => void;
  error: unknown;
  /** Whether previous versions can be restored. */
  hasVersions: boolean;
  /** The line at which to start. */
  line?: number | undefined;
  /** Inputs for what has no place in the email, such as its subject. */
  fields: ReactNode;
  /** Content below the email. */
  foot?: ReactNode;
  /** Content beside it. */
  aside?: ReactNode;
}

export function Writing({ foot = null, aside = null, ...props }: WritingProps) {
  const { projectId, locale, draft, onChange, error, line, fields } = props;
  const [isLeaving, setLeaving] = useState(false);
  const shown = { projectId, locale, draft, kind: draft.type };
  const change = (design: Design) => onChange({ design, body: designHtml(design) });
  const way = (
    <Button look="quiet" onClick={() => setLeaving(true)}>
      {draft.design === null ? t("Use the block editor") : t("Convert to HTML")}
    </Button>
  );
  const allFields = (
    <>
      {fields}
      <MergeTagBanner draft={draft} onChange={onChange} />
    </>
  );
  return (
    <>
      {draft.design === null ? (
        <div className="grid gap-6 xl:grid-cols-2">
          <div className="@container flex min-w-0 flex-col gap-4">
            {allFields}
            <HtmlField
              line={line}
              projectId={projectId}
              draft={draft}
              kind={draft.type}
              onChange={(body) => onChange({ body })}
              error={error}
              ways={way}
            />
            {foot}
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <MailPreview {...shown} marked={["body"]} />
            {aside}
          </div>
        </div>
      ) : (
        <Suspense fallback={<Skeleton className="h-128" />}>
          <BlockEditor
            projectId={projectId}
            design={draft.design}
            getsFooter={draft.type === "MARKETING" && !OWN_LINKS.test(draft.body)}
            onChange={change}
            error={error}
            ways={way}
            fields={allFields}
            preview={<MailPreview {...shown} isTall />}
            remarks={<DraftRemarks {...shown} />}
            foot={foot}
            aside={aside}
          />
        </Suspense>
      )}
      {isLeaving && <Switch {...props} onClose={() => setLeaving(false)} />}
    </>
  );
}

type SwitchProps = Pick<WritingProps, "draft" | "language" | "hasVersions" | "onChange"> & {
  onClose: () => void;
};

/** Asks whether to change to the other way of editing. */
function Switch({ draft, language, hasVersions, onChange, onClose }: SwitchProps) {
  const { brand } = useProject();
  const { design } = draft;
  if (design !== null)
    return (
      <ToHtml
        hasVersions={hasVersions}
        onGo={() => {
          onChange(asHtml(design));
          onClose();
        }}
        onClose={onClose}
      />
    );
  return (
    <ToBlocks
      hasVersions={hasVersions}
      isDocument={/<(?:!doctype|html|head|body)\b/i.test(draft.body)}
      onGo={(keepsHtml) => {
        const kept = { ...newBlock("html"), html: draft.body } as Design["blocks"][number];
        const blocks = designOf(keepsHtml ? [kept] : [newBlock("text")], { language, brand });
        const withText = { ...blocks, preheader: draft.previewText };
        onChange({ design: withText, previewText: "", body: designHtml(withText) });
        onClose();
      }}
      onClose={onClose}
    />
  );
}

/** Returns blocks as HTML with a separate preview text. */
function asHtml(design: Design) {
  const body = designHtml({ ...design, preheader: "" });
  return { design: null, previewText: design.preheader, body };
}

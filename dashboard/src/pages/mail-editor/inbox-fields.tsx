// Edits the lines of an email that inboxes show: its subject and its preview text, with the row of an inbox below.
import { designHtml } from "@postloft/contract/design-html.ts";
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import type { Design } from "@postloft/contract/design.ts";
import { problemWith } from "../../api/call.ts";
import { t } from "../../text/t.ts";
import { Field } from "../../ui/field.tsx";
import { InboxPreview, type MailDraft } from "./mail-preview.tsx";
import { SubjectField } from "./mail-text.tsx";

/** An edited email. The preview text of blocks is in their design. */
interface EditedEmail extends MailDraft {
  previewText: string;
  design: Design | null;
}

interface InboxFieldsProps {
  projectId: string;
  draft: EditedEmail;
  kind: CampaignKind;
  /** The language of the email, if it is known. */
  locale?: string;
  onChange: (change: Partial<Pick<EditedEmail, "subject" | "previewText" | "body" | "design">>) => void;
  error: unknown;
  /** The field at which to start. */
  focused?: string | undefined;
}

export function InboxFields({ projectId, draft, kind, locale, onChange, error, focused }: InboxFieldsProps) {
  const { subject, previewText, design } = draft;
  const changePreviewText = (text: string) => {
    if (design === null) return onChange({ previewText: text });
    const changed = { ...design, preheader: text };
    onChange({ design: changed, body: designHtml(changed) });
  };
  return (
    <>
      <SubjectField
        value={subject}
        onChange={(text) => onChange({ subject: text })}
        error={error}
        autoFocus={focused === "subject"}
      />
      <Field
        label={t("Preview text")}
        help={t("Shown after the subject in most inboxes.")}
        value={design?.preheader ?? previewText}
        onChange={({ target }) => changePreviewText(target.value)}
        error={problemWith(error, "previewText")}
        autoFocus={focused === "previewText"}
      />
      <InboxPreview {...{ projectId, draft, kind, locale }} />
    </>
  );
}

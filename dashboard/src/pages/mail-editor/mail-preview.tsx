// Previews an email as recipients see it: on desktop and phone, in dark mode, without images, as text and in the inbox.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { isConfirmable } from "@postloft/contract/campaign-findings.ts";
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import type { ApiResponse } from "../../api/address.ts";
import { CallError, errorsWithoutInput } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatBytes } from "../../ui/format.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Failure, FieldProblems, Skeleton } from "../../ui/states.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { isBlocks } from "../templates/blocks/block-tree.ts";
import { ContactChoice, contactsQuery, type ChosenContact } from "./contact-choice.tsx";
import { FindingsBar } from "./findings-bar.tsx";
import { InboxRows } from "./inbox-rows.tsx";
import { isByDesign, warningText } from "./warning-text.ts";

export interface MailTextDraft {
  subject: string;
  /** Ignored for blocks, because their body contains it. */
  previewText: string | null;
  body: string;
  design: object | null;
}

/** A draft with its sender. */
export interface MailDraft extends MailTextDraft {
  from: string | null;
  fromName: string | null;
}

const TYPING_PAUSE_MS = 400;
/** Gmail clips larger emails and shows a link to the rest. */
const CLIPPED_FROM_BYTES = 102 * 1024;

type Preview = ApiResponse<typeof api.templates.preview>;
type View = "desktop" | "phone" | "dark" | "no-images" | "text" | "source" | "inbox";

interface PreviewProps {
  projectId: string;
  draft: MailTextDraft;
  kind: CampaignKind;
  /** Language of the draft, for its footer. Default: that of the contact or the project. */
  locale?: string | undefined;
}

interface MailPreviewProps extends PreviewProps {
  draft: MailDraft;
  /** Hides warnings that are already shown nearby or are no longer useful. */
  isQuiet?: boolean;
  /** Shows as much of the email as fits on the screen. */
  isTall?: boolean;
  /** Fields that show their own errors. */
  marked?: readonly string[];
}

const hasBlocks = ({ design }: MailTextDraft) => isBlocks(design as Record<string, unknown> | null);

/** Renders a draft on the server when typing pauses. */
export function usePreview({ projectId, draft, kind, locale }: PreviewProps, contact: ChosenContact | null) {
  const { subject, body } = draft;
  const previewText = hasBlocks(draft) ? null : draft.previewText;
  const asked = useDebounced(
    useMemo(() => ({ subject, previewText, body, type: kind }), [subject, previewText, body, kind]),
    TYPING_PAUSE_MS,
  );
  // Serialize only the debounced draft, because an email may be 1 MB long.
  const key = useMemo(
    () => JSON.stringify([projectId, asked, contact?.id, locale]),
    [projectId, asked, contact?.id, locale],
  );
  const isEmpty = draft.subject.trim() === "" || draft.body.trim() === "";
  return useQuery({
    ...query(api.templates.preview, {
      projectId,
      body: {
        ...asked,
        ...(contact === null ? {} : { contactId: contact.id }),
        ...(locale === undefined ? {} : { data: { locale } }),
      },
    }),
    queryKeyHashFn: () => key,
    enabled: !isEmpty,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
}

export function MailPreview(props: MailPreviewProps) {
  const [view, setView] = useState<View>("desktop");
  const [contact, setContact] = useState<ChosenContact | null>(null);
  const preview = usePreview(props, contact);
  return (
    <section aria-label={t("Preview")} className="min-w-0">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Choices
          label={t("Preview mode")}
          options={[
            { value: "desktop", label: t("Desktop") },
            { value: "phone", label: t("Phone") },
            { value: "dark", label: t("Dark") },
            { value: "no-images", label: t("No images") },
            { value: "text", label: t("Text") },
            { value: "source", label: t("Source") },
            { value: "inbox", label: t("Inbox") },
          ]}
          value={view}
          onChoose={setView}
        />
        <ContactChoice
          projectId={props.projectId}
          prompt={t("Preview as…")}
          chosen={contact}
          onChoose={setContact}
        />
      </div>
      {preview.isError && <NoPreview error={preview.error} marked={props.marked ?? []} />}
      {preview.data === undefined && !preview.isError && <Skeleton className="h-128 w-full" />}
      {preview.data !== undefined && (
        <>
          {props.isQuiet !== true && (
            <FindingsBar messages={messagesOf(preview.data.warnings, props.draft)} />
          )}
          <Look view={view} preview={preview.data} sender={senderOf(props.draft)} isTall={props.isTall} />
          <Remarks preview={preview.data} isDark={view === "dark"} />
        </>
      )}
    </section>
  );
}

/** Shows what is wrong in a draft that is edited without its preview. */
export function DraftRemarks(props: PreviewProps) {
  const { data, error } = usePreview(props, null);
  const problems = error instanceof CallError ? error.fields : [];
  if (problems.length > 0)
    return (
      <div role="status" className="mb-2 rounded-md bg-warn-wash px-3 py-2 text-sm">
        <FieldProblems problems={problems} />
      </div>
    );
  return data === undefined ? (
    <p className="mb-2 min-h-9" />
  ) : (
    <FindingsBar messages={messagesOf(data.warnings, props.draft)} />
  );
}

/**
 * Returns the texts of the warnings that ask for a change. The ones that would stop a campaign come first. Omits the lines of an email
 * made of blocks, because its author doesn't see the HTML.
 */
const messagesOf = (warnings: Preview["warnings"], draft: MailTextDraft) =>
  warnings
    .filter((one) => !isByDesign(one))
    .toSorted((one, other) => Number(isConfirmable(other.code)) - Number(isConfirmable(one.code)))
    .map((one) => {
      const line = hasBlocks(draft) ? null : one.where.line;
      const message = warningText(one);
      return line === null ? message : t("Line {line}: {message}", { line, message });
    });

/** Shows the errors of fields that do not show them themselves. */
function NoPreview({ error, marked }: { error: Error; marked: readonly string[] }) {
  if (!(error instanceof CallError) || error.fields.length === 0) return <Failure error={error} />;
  const elsewhere = errorsWithoutInput(error, marked);
  return (
    <div role="status" className="rounded-md border border-dashed border-line-strong p-4 text-sm text-soft">
      {elsewhere.length === 0
        ? t("Fix the marked fields to see the preview.")
        : t("Fix this to see the preview:")}
      <FieldProblems problems={elsewhere} />
    </div>
  );
}

/** Approximates the dark mode of email clients that invert light colors. The UI says that it is an approximation. */
const INVERTED =
  "<style>html{filter:invert(1) hue-rotate(180deg);background:#fff}img{filter:invert(1) hue-rotate(180deg)}</style>";
const WITHOUT_IMAGES = "<style>img{visibility:hidden!important}*{background-image:none!important}</style>";

interface LookProps {
  view: View;
  preview: Preview;
  sender: string;
  isTall: boolean | undefined;
}

function Look({ view, preview, sender, isTall = false }: LookProps) {
  const title = t("Email content");
  if (view === "text" || view === "source")
    return (
      <pre
        tabIndex={0}
        className="h-128 overflow-auto rounded-md border border-line bg-side p-4 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere"
      >
        {view === "text" ? preview.text : preview.html}
      </pre>
    );
  if (view === "inbox") return <InboxRows {...preview} sender={sender} />;
  const before = view === "dark" ? INVERTED : view === "no-images" ? WITHOUT_IMAGES : "";
  return (
    <MailFrame
      title={title}
      html={before + preview.html}
      className={
        view === "phone"
          ? "mx-auto block h-168 w-94 max-w-full"
          : isTall
            ? "h-[80vh] min-h-128 w-full"
            : "h-128 w-full"
      }
    />
  );
}

/** Returns the sender as inboxes show it. */
function senderOf({ from, fromName }: Pick<MailDraft, "from" | "fromName">): string {
  return [fromName, from].find((name) => name !== null && name.trim() !== "") ?? t("Sender");
}

/** Shows how an inbox lists a draft, filled in for the newest contact. Follows typing. */
export function InboxPreview({ draft, ...props }: PreviewProps & { draft: MailDraft }) {
  const contacts = useQuery(contactsQuery(props.projectId, ""));
  const { data } = usePreview({ draft, ...props }, contacts.data?.data[0] ?? null);
  return (
    <section aria-label={t("Inbox")}>
      <InboxRows
        sender={senderOf(draft)}
        subject={data?.subject ?? draft.subject}
        previewText={data?.previewText ?? draft.previewText ?? ""}
      />
    </section>
  );
}

function Remarks({ preview, isDark }: { preview: Preview; isDark: boolean }) {
  const bytes = new TextEncoder().encode(preview.html).length;
  return (
    <div className="mt-2 flex flex-col gap-1 text-sm wrap-anywhere text-faint">
      <p>
        {bytes > CLIPPED_FROM_BYTES
          ? t("{size}. Gmail only shows the first 102 KB.", { size: formatBytes(bytes) })
          : t("Subject: {subject} · {size}", { subject: preview.subject, size: formatBytes(bytes) })}
      </p>
      {isDark && <p>{t("Dark mode differs between email apps. This is an approximation.")}</p>}
    </div>
  );
}

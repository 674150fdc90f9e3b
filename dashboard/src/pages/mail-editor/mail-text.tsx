// Edits an email's subject and its HTML, with completion of contact variables.
import { Braces } from "lucide-react";
import { lazy, Suspense, useRef, useState, type ReactNode } from "react";
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import { PLACEHOLDER_TEXTS } from "@postloft/contract/placeholder-texts.ts";
import { CallError, problemWith } from "../../api/call.ts";
import { t } from "../../text/t.ts";
import { Field } from "../../ui/field.tsx";
import { formatShare } from "../../ui/format.ts";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Skeleton } from "../../ui/states.tsx";
import type { HtmlEditorHandle, LineProblem } from "./html-editor.tsx";
import { usePreview, type MailTextDraft } from "./mail-preview.tsx";
import { useVariables } from "./variables.ts";
import { withFallback, type OfferedVariable } from "./write-variable.ts";
import { warningText } from "./warning-text.ts";

const HtmlEditor = lazy(async () => ({ default: (await import("./html-editor.tsx")).HtmlEditor }));

interface SubjectProps {
  value: string;
  onChange: (subject: string) => void;
  error: unknown;
  autoFocus?: boolean;
}

/** Most email clients cut off longer subjects. */
const SUBJECT_SHOWN = 60;

export function SubjectField({ value, onChange, error, autoFocus }: SubjectProps) {
  // A subject that is typed may be equal to the placeholder for a moment.
  const [isTyped, setTyped] = useState(false);
  const isPlaceholder = !isTyped && PLACEHOLDER_TEXTS["A subject"]?.includes(value) === true;
  return (
    <Field
      label={t("Subject")}
      required
      value={isPlaceholder ? "" : value}
      placeholder={isPlaceholder ? value : undefined}
      onChange={({ target }) => {
        setTyped(true);
        onChange(target.value);
      }}
      error={problemWith(error, "subject")}
      autoFocus={autoFocus}
      {...(isPlaceholder ? { help: t("Write a subject. This is a placeholder.") } : {})}
      {...(value.length > SUBJECT_SHOWN
        ? { help: t("{n} characters. Many email apps will cut it off.", { n: value.length }) }
        : {})}
    />
  );
}

interface HtmlFieldProps {
  projectId: string;
  draft: MailTextDraft;
  kind: CampaignKind;
  onChange: (body: string) => void;
  /** The error of the last save. */
  error: unknown;
  /** Controls next to the label, such as other editors. */
  ways?: ReactNode;
  /** The line at which to start. */
  line?: number | undefined;
}

export function HtmlField({ projectId, draft, kind, onChange, error, ways, line }: HtmlFieldProps) {
  const editor = useRef<HtmlEditorHandle>(null);
  const variables = useVariables(projectId);
  const preview = usePreview({ projectId, draft, kind }, null);
  const problem = problemWith(error, "body") ?? problemWith(preview.error, "body");
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="text-sm font-medium" aria-hidden>
          {t("HTML")}
        </span>
        <span className="flex gap-1">
          {ways}
          <VariableMenu variables={variables} onChoose={(text) => editor.current?.insert(text)} />
        </span>
      </div>
      <Suspense fallback={<Skeleton className="h-112 w-full" />}>
        <HtmlEditor
          ref={editor}
          value={draft.body}
          line={line}
          onChange={onChange}
          variables={variables}
          problems={problemsOf(preview)}
          isInvalid={problem !== undefined}
          describedBy={problem === undefined ? undefined : "html-problem"}
        />
      </Suspense>
      {problem !== undefined && (
        <p id="html-problem" className="text-sm text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}

function problemsOf({ data, error, isPlaceholderData }: ReturnType<typeof usePreview>): LineProblem[] {
  if (error instanceof CallError)
    return error.fields.flatMap(({ field, fault }) =>
      field === "body" && fault !== undefined ? [{ ...fault, isWarning: false }] : [],
    );
  if (isPlaceholderData) return [];
  return (data?.warnings ?? []).flatMap((warning) => {
    const { field, line } = warning.where;
    return field === "body" && line !== null
      ? [{ line, message: warningText(warning), isWarning: true }]
      : [];
  });
}

interface VariableMenuProps {
  /** Shows only the icon. */
  isCompact?: boolean;
  variables: readonly OfferedVariable[];
  onChoose: (text: string) => void;
}

export function VariableMenu({ isCompact = false, variables, onChoose }: VariableMenuProps) {
  return (
    <Menu
      label={t("Insert variable")}
      className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm text-soft hover:bg-hover hover:text-ink"
      button={
        <>
          <Braces size={14} aria-hidden /> {!isCompact && t("Insert variable")}
        </>
      }
    >
      {variables.map((variable) => (
        <MenuItem key={variable.name} onSelect={() => onChoose(`{{${withFallback(variable)}}}`)}>
          <span className="min-w-0 flex-1 truncate font-mono text-xs">{variable.name}</span>
          {typeof variable.coverage === "number" && (
            <span className="text-xs text-faint">{formatShare(variable.coverage)}</span>
          )}
        </MenuItem>
      ))}
    </Menu>
  );
}

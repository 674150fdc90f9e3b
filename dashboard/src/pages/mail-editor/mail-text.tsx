// What a mail says: its subject and its HTML, with the variables that contacts have. Before it: templates and campaigns. After it: mail-preview.tsx.
import { useQuery } from "@tanstack/react-query";
import { Braces } from "lucide-react";
import { useRef } from "react";
import { call, problemWith } from "../../api/call.ts";
import { listContactFields } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Field, TextArea } from "../../ui/field.tsx";
import { formatShare } from "../../ui/format.ts";
import { Menu, MenuItem } from "../../ui/menu.tsx";

export interface MailTextDraft {
  subject: string;
  body: string;
}

interface MailTextProps {
  projectId: string;
  draft: MailTextDraft;
  onChange: (change: Partial<MailTextDraft>) => void;
  /** What the server said when it was saved or previewed. */
  error: unknown;
}

/** Subject lines are cut off by most mail programs beyond it. */
const SUBJECT_SHOWN = 60;

export function MailText({ projectId, draft, onChange, error }: MailTextProps) {
  const body = useRef<HTMLTextAreaElement>(null);
  const insert = (text: string) => {
    const { selectionStart = draft.body.length, selectionEnd = draft.body.length } = body.current ?? {};
    onChange({ body: draft.body.slice(0, selectionStart) + text + draft.body.slice(selectionEnd) });
    requestAnimationFrame(() => {
      body.current?.focus();
      body.current?.setSelectionRange(selectionStart + text.length, selectionStart + text.length);
    });
  };
  return (
    <div className="flex flex-col gap-4">
      <Field
        label={t("Subject")}
        required
        value={draft.subject}
        onChange={({ target }) => onChange({ subject: target.value })}
        error={problemWith(error, "subject")}
        {...(draft.subject.length > SUBJECT_SHOWN
          ? { help: t("{n} characters: many mail programs cut it off.", { n: draft.subject.length }) }
          : {})}
      />
      <div className="relative">
        <div className="absolute -top-1.5 right-0">
          <VariableMenu projectId={projectId} onChoose={insert} />
        </div>
        <TextArea
          label={t("HTML")}
          isCode
          ref={body}
          required
          rows={22}
          value={draft.body}
          onChange={({ target }) => onChange({ body: target.value })}
          error={problemWith(error, "body")}
        />
      </div>
    </div>
  );
}

function VariableMenu({ projectId, onChoose }: { projectId: string; onChoose: (text: string) => void }) {
  const fields = useQuery({
    queryKey: ["project", projectId, "contact-fields"],
    queryFn: ({ signal }) => call(listContactFields, { projectId, signal }),
  });
  const variables = (fields.data?.fields ?? [])
    .filter(({ field, isCustom }) => isCustom || field === "email")
    .map(({ field, coverage }) => ({ name: field.replace(/^data\./, ""), coverage }));
  return (
    <Menu
      label={t("Insert a variable")}
      className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm text-soft hover:bg-hover hover:text-ink"
      button={
        <>
          <Braces size={14} aria-hidden /> {t("Insert a variable")}
        </>
      }
    >
      {variables.map(({ name, coverage }) => (
        <MenuItem
          key={name}
          onSelect={() => onChoose(coverage < 1 ? `{{${name} ?? "${t("friend")}"}}` : `{{${name}}}`)}
        >
          <span className="min-w-0 flex-1 truncate font-mono text-xs">{name}</span>
          <span className="text-xs text-faint">{formatShare(coverage)}</span>
        </MenuItem>
      ))}
    </Menu>
  );
}

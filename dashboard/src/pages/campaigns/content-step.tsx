// Edits a campaign's content and sender. Saves while typing.
import { useState } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { InboxFields } from "../mail-editor/inbox-fields.tsx";
import { TestDialog } from "../mail-editor/test-dialog.tsx";
import { testDraftOf } from "../mail-editor/test-draft.ts";
import { useProject } from "../project-shell.tsx";
import { Writing } from "../templates/writing.tsx";
import type { Campaign } from "./campaign-queries.ts";
import type { Content } from "./content-draft.ts";
import { ContentConflict } from "./content-conflict.tsx";
import type { ContentField } from "./search.ts";
import { SenderField } from "./sender-field.tsx";
import { TemplateDialog } from "./template-dialog.tsx";
import { useContentDraft, type SavingState } from "./use-content-draft.ts";

interface StepProps {
  projectId: string;
  campaign: Campaign;
  /** The HTML line at which to start. */
  line: number | undefined;
  /** The field at which to start. */
  field: ContentField | undefined;
  onNext: () => void;
}

const AT_INPUTS = ["name", "from", "fromName", "replyTo", "subject", "previewText", "body"];

export function ContentStep({ projectId, campaign, line, field, onNext }: StepProps) {
  const project = useProject();
  const [asked, setAsked] = useState<"template" | "test" | null>(null);
  const close = () => setAsked(null);
  const { draft, change, save, state, error, conflicts, settle } = useContentDraft(projectId, campaign);
  return (
    <>
      <Writing
        projectId={project.id}
        language={project.language}
        draft={{ ...draft, type: campaign.kind }}
        onChange={change}
        error={error}
        hasVersions={false}
        line={line}
        fields={
          <>
            {conflicts.length > 0 && (
              <ContentConflict campaign={campaign} fields={conflicts} onSettle={settle} />
            )}
            {error !== null && <Failure error={error} atInputs={AT_INPUTS} onRetry={() => void save()} />}
            <InboxFields
              projectId={projectId}
              draft={draft}
              kind={campaign.kind}
              onChange={change}
              error={error}
              focused={field}
            />
            <Sender projectId={projectId} draft={draft} onChange={change} error={error} field={field} />
            <Field
              label={t("Campaign name")}
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
              error={problemWith(error, "name")}
            />
          </>
        }
        foot={
          <Foot
            state={state}
            hasFailed={error !== null || conflicts.length > 0}
            onAsk={setAsked}
            onNext={onNext}
          />
        }
      />
      {asked === "template" && <TemplateDialog projectId={projectId} onChoose={change} onClose={close} />}
      {asked === "test" && (
        <TestDialog
          projectId={projectId}
          send={(test) =>
            call(api.campaigns.test, {
              projectId,
              params: { id: campaign.id },
              body: { ...test, draft: testDraftOf(draft, campaign.kind) },
            })
          }
          onClose={close}
        />
      )}
    </>
  );
}

interface FootProps {
  state: SavingState;
  hasFailed: boolean;
  onAsk: (asked: "template" | "test") => void;
  onNext: () => void;
}

function Foot({ state, hasFailed, onAsk, onNext }: FootProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <Button look="quiet" className="-ml-3" onClick={() => onAsk("template")}>
        {t("Use a template…")}
      </Button>
      <div className="flex items-center gap-3">
        <Saving state={state} hasFailed={hasFailed} />
        <Button look="quiet" onClick={() => onAsk("test")}>
          {t("Send test")}
        </Button>
        <Button look="primary" onClick={onNext}>
          {t("Continue")}
        </Button>
      </div>
    </div>
  );
}

interface SenderProps {
  projectId: string;
  draft: Content;
  onChange: (change: Partial<Content>) => void;
  error: unknown;
  field: ContentField | undefined;
}

function Sender({ projectId, draft, onChange, error, field }: SenderProps) {
  const tied = (name: "fromName" | "replyTo") => ({
    value: draft[name],
    error: problemWith(error, name),
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  });
  return (
    <>
      <SenderField
        projectId={projectId}
        value={draft.from}
        onChange={(from) => onChange({ from })}
        error={problemWith(error, "from")}
        autoFocus={field === "from"}
      />
      <div className="grid gap-4 @md:grid-cols-2">
        <Field label={t("From name")} {...tied("fromName")} />
        <Field
          label={t("Reply-to")}
          placeholder={draft.from}
          autoFocus={field === "replyTo"}
          {...tied("replyTo")}
        />
      </div>
    </>
  );
}

function Saving({ state, hasFailed }: { state: SavingState; hasFailed: boolean }) {
  const isLost = hasFailed && state === "unsaved";
  return (
    <span role="status" className={`text-sm ${isLost ? "text-bad" : "text-faint"}`}>
      {state === "saved" ? t("Saved") : isLost ? t("Unsaved changes") : t("Saving…")}
    </span>
  );
}

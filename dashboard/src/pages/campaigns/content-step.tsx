// Edits a campaign's content and sender next to a preview. Saves while typing.
import { useState } from "react";
import { problemWith } from "../../api/call.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { SubjectField } from "../mail-editor/mail-text.tsx";
import { useProject } from "../project-shell.tsx";
import { Writing } from "../templates/writing.tsx";
import type { Campaign } from "./campaign-queries.ts";
import { ContentConflict } from "./content-conflict.tsx";
import { SenderField } from "./sender-field.tsx";
import { TemplateDialog } from "./template-dialog.tsx";
import { useContentDraft, type SavingState } from "./use-content-draft.ts";

interface StepProps {
  projectId: string;
  campaign: Campaign;
  /** The HTML line at which to start. */
  line: number | undefined;
  onNext: () => void;
}

const AT_INPUTS = ["name", "from", "fromName", "replyTo", "subject", "body"];

export function ContentStep({ projectId, campaign, line, onNext }: StepProps) {
  const project = useProject();
  const [isChoosing, setChoosing] = useState(false);
  const { draft, change, save, state, error, conflicts, settle } = useContentDraft(projectId, campaign);
  const tied = (name: "name" | "fromName" | "replyTo") => ({
    value: draft[name],
    error: problemWith(error, name),
    onChange: ({ target }: { target: { value: string } }) => change({ [name]: target.value }),
  });
  return (
    <div className="grid gap-6 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        {conflicts.length > 0 && <ContentConflict campaign={campaign} fields={conflicts} onSettle={settle} />}
        {error !== null && <Failure error={error} atInputs={AT_INPUTS} onRetry={() => void save()} />}
        <Field label={t("Campaign name")} {...tied("name")} />
        <SenderField
          projectId={projectId}
          value={draft.from}
          onChange={(from) => change({ from })}
          error={problemWith(error, "from")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("From name")} {...tied("fromName")} />
          <Field label={t("Reply-to")} placeholder={draft.from} {...tied("replyTo")} />
        </div>
        <SubjectField value={draft.subject} onChange={(subject) => change({ subject })} error={error} />
        <Writing
          projectId={project.id}
          language={project.language}
          draft={{ ...draft, type: campaign.kind }}
          onChange={change}
          error={error}
          hasVersions={false}
          line={line}
        />
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Button look="quiet" className="-ml-3" onClick={() => setChoosing(true)}>
            {t("Use a template…")}
          </Button>
          <div className="flex items-center gap-3">
            <Saving state={state} hasFailed={error !== null || conflicts.length > 0} />
            <Button look="primary" onClick={onNext}>
              {t("Continue")}
            </Button>
          </div>
        </div>
      </div>
      <MailPreview projectId={projectId} draft={draft} kind={campaign.kind} marked={["body"]} />
      {isChoosing && (
        <TemplateDialog projectId={projectId} onChoose={change} onClose={() => setChoosing(false)} />
      )}
    </div>
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

// A draft in three steps that stand in the URL: who gets it, what it says, a last look. Going on saves. Before it: campaign-page.tsx.
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { CallError, problemWith } from "../../api/call.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { MailText } from "../mail-editor/mail-text.tsx";
import { AudienceStep } from "./audience-step.tsx";
import { useSavingCampaign, type Campaign } from "./campaign-queries.ts";
import { ReviewStep } from "./review-step.tsx";
import { STEPS, type Step } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");
const NAMES: Record<Step, string> = {
  audience: t("Audience"),
  content: t("Content"),
  review: t("Review and send"),
};

interface EditorProps {
  project: Project;
  campaign: Campaign;
}

export function CampaignEditor({ project, campaign }: EditorProps) {
  const { step = "audience" } = route.useSearch();
  const navigate = route.useNavigate();
  const goTo = (next: Step) => void navigate({ search: { step: next } });
  return (
    <>
      <ol className="mb-6 flex flex-wrap gap-x-6 gap-y-2 border-b border-line" aria-label={t("Steps")}>
        {STEPS.map((one, at) => (
          <li key={one}>
            <button
              type="button"
              aria-current={one === step ? "step" : undefined}
              onClick={() => goTo(one)}
              className="-mb-px inline-flex h-9 items-center gap-2 border-b-2 border-transparent text-sm font-medium text-soft hover:text-ink aria-[current=step]:border-accent aria-[current=step]:text-ink"
            >
              <span className="text-faint tabular-nums">{at + 1}</span> {NAMES[one]}
            </button>
          </li>
        ))}
      </ol>
      {step === "audience" && (
        <AudienceStep projectId={project.id} campaign={campaign} onNext={() => goTo("content")} />
      )}
      {step === "content" && (
        <ContentStep projectId={project.id} campaign={campaign} onNext={() => goTo("review")} />
      )}
      {step === "review" && (
        <ReviewStep project={project} campaign={campaign} onContent={() => goTo("content")} />
      )}
    </>
  );
}

interface StepProps {
  projectId: string;
  campaign: Campaign;
  onNext: () => void;
}

const CONTENT = ["subject", "body", "from", "fromName", "replyTo", "name"] as const;
type Content = Record<(typeof CONTENT)[number], string>;

const contentOf = (campaign: Campaign) =>
  Object.fromEntries(CONTENT.map((name) => [name, campaign[name] ?? ""])) as Content;

function ContentStep({ projectId, campaign, onNext }: StepProps) {
  const stored = contentOf(campaign);
  const [draft, setDraft] = useState(stored);
  const saving = useSavingCampaign(projectId, campaign);
  const isChanged = CONTENT.some((name) => draft[name] !== stored[name]);
  useLeaveWarning(isChanged);
  const change = (changed: Partial<Content>) => setDraft((old) => ({ ...old, ...changed }));
  const tied = (name: "name" | "from" | "fromName" | "replyTo") => ({
    value: draft[name],
    error: problemWith(saving.error, name),
    onChange: ({ target }: { target: { value: string } }) => change({ [name]: target.value }),
  });
  const save = (then?: () => void) =>
    saving.mutate(
      {
        ...draft,
        fromName: draft.fromName.trim() === "" ? null : draft.fromName,
        replyTo: draft.replyTo.trim() === "" ? null : draft.replyTo,
      },
      // The next step is another place, and what is saved may be left.
      { onSuccess: () => setTimeout(() => then?.()) },
    );
  const isOfField = saving.error instanceof CallError && saving.error.fields.length > 0;
  return (
    <div className="grid gap-6 xl:grid-cols-2">
      <div className="flex flex-col gap-4">
        {saving.isError && !isOfField && <Failure error={saving.error} />}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("Name of the campaign")} {...tied("name")} />
          <Field label={t("From")} {...tied("from")} />
          <Field label={t("Sender's name")} {...tied("fromName")} />
          <Field label={t("Replies go to")} {...tied("replyTo")} />
        </div>
        <MailText projectId={projectId} draft={draft} onChange={change} error={saving.error} />
        <div className="flex justify-end gap-2">
          <Button disabled={!isChanged} busy={saving.isPending} onClick={() => save()}>
            {isChanged ? t("Save") : t("Saved")}
          </Button>
          <Button
            look="primary"
            busy={saving.isPending}
            onClick={() => (isChanged ? save(onNext) : onNext())}
          >
            {t("Continue")}
          </Button>
        </div>
      </div>
      <MailPreview projectId={projectId} draft={draft} kind={campaign.kind} />
    </div>
  );
}

// Edits a draft in three steps: audience, content and review. The URL contains the step, and each step saves automatically.
import { getRouteApi } from "@tanstack/react-router";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { AudienceStep } from "./audience-step.tsx";
import type { Campaign } from "./campaign-queries.ts";
import { ContentStep } from "./content-step.tsx";
import { ReviewStep } from "./review-step.tsx";
import { STEPS, type Place, type Step } from "./search.ts";

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
  const { step = "audience", line, field } = route.useSearch();
  const navigate = route.useNavigate();
  const goTo = (next: Step, place: Place = {}) => void navigate({ search: { step: next, ...place } });
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
        <ContentStep
          projectId={project.id}
          campaign={campaign}
          line={line}
          field={field}
          onNext={() => goTo("review")}
        />
      )}
      {step === "review" && <ReviewStep project={project} campaign={campaign} goTo={goTo} />}
    </>
  );
}

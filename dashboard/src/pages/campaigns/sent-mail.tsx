// Shows the content, sender and audience of a sent campaign.
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { CampaignFacts } from "./campaign-facts.tsx";
import type { ReportProps } from "./campaign-queries.ts";

export function SentMail({ projectId, campaign }: ReportProps) {
  return (
    <div className="flex flex-col gap-6">
      <CampaignFacts projectId={projectId} campaign={campaign} />
      <MailPreview projectId={projectId} draft={campaign} kind={campaign.kind} isQuiet />
    </div>
  );
}

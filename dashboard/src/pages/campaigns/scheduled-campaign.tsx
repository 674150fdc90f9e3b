// Shows a scheduled campaign, with actions to reschedule, send now or cancel it.
import { useState } from "react";
import { CONFIRMABLE_FINDINGS } from "@postloft/contract/campaign-findings.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { MailPreview } from "../mail-editor/mail-preview.tsx";
import { AudienceCount } from "./audience-step.tsx";
import { useUnscheduling } from "./campaign-actions.tsx";
import type { Campaign } from "./campaign-queries.ts";
import { heldReasonText } from "./held-reason-text.ts";
import { ScheduleCampaignDialog, SendDialog } from "./send-dialogs.tsx";

export function ScheduledCampaign({ project, campaign }: { project: Project; campaign: Campaign }) {
  const [asked, setAsked] = useState<"schedule" | "send" | null>(null);
  const unscheduling = useUnscheduling(project.id, campaign);
  const props = {
    projectId: project.id,
    campaign,
    // The user confirmed these findings when scheduling or changing the campaign.
    confirm: CONFIRMABLE_FINDINGS,
    onClose: () => setAsked(null),
  };
  const isHeld = campaign.heldReasonParts.length > 0;
  return (
    <div className="grid items-start gap-6 xl:grid-cols-2">
      <div className="flex flex-col gap-5">
        <Card className={`p-5 ${isHeld ? "bg-warn-wash" : ""}`}>
          <h2 className={`font-semibold ${isHeld ? "text-warn" : ""}`}>
            {isHeld
              ? t("Needs your attention")
              : t("Scheduled for {when}", {
                  when: formatInstant(campaign.scheduledAt ?? campaign.createdAt),
                })}
          </h2>
          <p className="mt-1 text-sm text-soft">
            {isHeld
              ? heldReasonText(campaign)
              : t("In your time zone, {zone}. We pick the recipients at that time.", {
                  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
                })}
          </p>
          <div className="mt-4 flex flex-wrap gap-2">
            <Button disabled={project.disabled} onClick={() => setAsked("schedule")}>
              {t("Reschedule…")}
            </Button>
            <Button disabled={project.disabled} onClick={() => setAsked("send")}>
              {t("Send now…")}
            </Button>
            <Button look="quiet" busy={unscheduling.isPending} onClick={() => unscheduling.mutate()}>
              {t("Move back to draft")}
            </Button>
          </div>
        </Card>
        <AudienceCount projectId={project.id} campaign={campaign} />
      </div>
      <MailPreview projectId={project.id} draft={campaign} kind={campaign.kind} isQuiet />
      {asked === "schedule" && <ScheduleCampaignDialog {...props} />}
      {asked === "send" && <SendDialog {...props} />}
    </div>
  );
}

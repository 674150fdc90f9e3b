// Shows the progress of a sending campaign and why it is delayed, with actions to pause, resume or cancel it.
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatInstant, formatNumber } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useProject } from "../project-shell.tsx";
import { CancelDialog } from "./campaign-actions.tsx";
import { useCampaignAction, type ReportProps } from "./campaign-queries.ts";
import { heldReasonText } from "./held-reason-text.ts";

export function UnderWay({ projectId, campaign }: ReportProps) {
  const input = { projectId, params: { id: campaign.id } };
  const pausing = useCampaignAction(projectId, () => call(api.campaigns.pause, input), t("Paused"));
  const resuming = useCampaignAction(projectId, () => call(api.campaigns.resume, input), t("Resumed"));
  const project = useProject();
  const [isCancelling, setCancelling] = useState(false);
  const { status, totalRecipients, pendingCount, startedAt, sentAt } = campaign;
  const done = totalRecipients - pendingCount;
  if (status === "SENT" || (status === "CANCELLED" && pendingCount === 0))
    return (
      <p className="text-sm text-soft">
        {status === "CANCELLED" && <Canceled campaign={campaign} />}
        {startedAt !== null && periodText(formatInstant(startedAt), sentAt && formatInstant(sentAt))}
      </p>
    );
  return (
    <Card className="p-5">
      <Progress
        label={status === "PAUSED" ? t("Paused") : t("Sending")}
        share={totalRecipients === 0 ? 0 : done / totalRecipients}
        text={t("{done} of {total}", { done: formatNumber(done), total: formatNumber(totalRecipients) })}
      />
      {campaign.heldReasonParts.length > 0 && (
        <p className="mt-3 text-sm text-warn">{heldReasonText(campaign)}</p>
      )}
      {status === "SENDING" && project.sendingRate !== null && (
        <p className="mt-3 text-sm text-soft">
          {plural(
            project.sendingRate,
            "Limited to {n} email per second in the project settings.",
            "Limited to {n} emails per second in the project settings.",
          )}
        </p>
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        {status === "SENDING" && (
          <Button busy={pausing.isPending} onClick={() => pausing.mutate()}>
            {t("Pause")}
          </Button>
        )}
        {status === "PAUSED" && (
          <Button look="primary" busy={resuming.isPending} onClick={() => resuming.mutate()}>
            {t("Resume")}
          </Button>
        )}
        {status !== "CANCELLED" && (
          <Button look="quiet" onClick={() => setCancelling(true)}>
            {t("Cancel sending…")}
          </Button>
        )}
      </div>
      {isCancelling && (
        <CancelDialog projectId={projectId} campaign={campaign} onClose={() => setCancelling(false)} />
      )}
    </Card>
  );
}

function periodText(began: string, ended: string | null): string {
  if (ended === null) return t("Started {when}", { when: began });
  return began === ended ? t("Sent {when}", { when: began }) : t("Sent {began} – {ended}", { began, ended });
}

/** Shows how many recipients of a canceled campaign were emailed, and how many were not. */
function Canceled({ campaign }: Pick<ReportProps, "campaign">) {
  const { totalRecipients: total, sentCount: sent, unconfirmedCount } = campaign;
  // Whether the unconfirmed ones were sent is unknown, so they count as neither. Another card lists them.
  const missed = total - sent - unconfirmedCount;
  return (
    <span className="block text-base text-ink">
      {total === 0
        ? t("Canceled before sending began.")
        : t("Canceled after {sent} of {total} emails.", {
            sent: formatNumber(sent),
            total: formatNumber(total),
          })}{" "}
      {missed > 0 && plural(missed, "{n} recipient was not emailed.", "{n} recipients were not emailed.")}
    </span>
  );
}

export function PausedDestinations({ projectId, campaign }: ReportProps) {
  const releasing = useCampaignAction(
    projectId,
    (destination: string) =>
      call(api.campaigns.release, { projectId, params: { id: campaign.id }, body: { destination } }),
    t("Sending resumed"),
  );
  return campaign.pausedDestinations.map(({ destination, answer, whatToDo, nextTryAt }) => (
    <Card key={destination} className="bg-warn-wash p-5">
      <h2 className="font-semibold text-warn">
        {t("{destination} is throttling your email", { destination })}
      </h2>
      <p className="mt-1 font-mono text-xs wrap-anywhere">{answer}</p>
      <p className="mt-2 text-sm text-soft">{whatToDo}</p>
      <p className="text-sm text-soft">
        {t("We retry a few emails {when}.", { when: formatInstant(nextTryAt) })}
      </p>
      <Button className="mt-3" busy={releasing.isPending} onClick={() => releasing.mutate(destination)}>
        {t("Resume now")}
      </Button>
    </Card>
  ));
}

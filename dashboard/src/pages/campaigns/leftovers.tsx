// Lists the emails of a campaign that failed or are in doubt, with the actions a user can still take.
import { useState } from "react";
import type { Resolution } from "@postloft/contract/emails.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { useCampaignAction, type ReportProps } from "./campaign-queries.ts";

type Asked = Resolution | "retry-failed";

export function Leftovers({ projectId, campaign }: ReportProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const { failedCount, unconfirmedCount, status } = campaign;
  const mayRetry = failedCount > 0 && status === "SENT";
  if (!mayRetry && unconfirmedCount === 0) return null;
  return (
    <Card className="flex flex-col gap-4 p-5">
      {mayRetry && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p>{plural(failedCount, "{n} recipient failed.", "{n} recipients failed.")}</p>
          <Button onClick={() => setAsked("retry-failed")}>{t("Retry failed…")}</Button>
        </div>
      )}
      {unconfirmedCount > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-120">
            {plural(
              unconfirmedCount,
              "{n} email wasn't confirmed by the mail server. Check its log to see if it arrived.",
              "{n} emails weren't confirmed by the mail server. Check its log to see if they arrived.",
            )}
          </p>
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setAsked("sent")}>{t("Mark as sent…")}</Button>
            <Button onClick={() => setAsked("failed")}>{t("Mark as failed…")}</Button>
            {status !== "CANCELLED" && <Button onClick={() => setAsked("retry")}>{t("Send again…")}</Button>}
          </div>
        </div>
      )}
      {asked === "retry-failed" && (
        <RetryDialog projectId={projectId} campaign={campaign} onClose={() => setAsked(null)} />
      )}
      {asked !== null && asked !== "retry-failed" && (
        <ResolveDialog projectId={projectId} campaign={campaign} as={asked} onClose={() => setAsked(null)} />
      )}
    </Card>
  );
}

interface AskProps extends ReportProps {
  onClose: () => void;
}

function RetryDialog({ projectId, campaign: { id, failedCount }, onClose }: AskProps) {
  const retrying = useCampaignAction(
    projectId,
    () => call(api.campaigns.retryFailed, { projectId, params: { id } }),
    t("Retrying failed emails"),
  );
  return (
    <ConfirmDialog
      title={plural(failedCount, "Send to {n} recipient again?", "Send to {n} recipients again?")}
      description={t("Only recipients whose email failed get it. No one gets it twice.")}
      action={t("Send again")}
      keep={t("Cancel")}
      doing={{ ...retrying, mutate: () => retrying.mutate(undefined, { onSuccess: onClose }) }}
      onClose={onClose}
    />
  );
}

/** Decisions about emails in doubt take effect immediately and cannot be undone. */
function wordsFor(as: Resolution, count: number): { title: string; description: string; action: string } {
  if (as === "sent")
    return {
      title: plural(count, "Mark {n} email as sent?", "Mark {n} emails as sent?"),
      description: t("Do this if the mail server's log shows it accepted them. This can't be undone."),
      action: t("Mark as sent"),
    };
  if (as === "failed")
    return {
      title: plural(count, "Mark {n} email as failed?", "Mark {n} emails as failed?"),
      description: t(
        "Do this if the mail server's log shows it didn't accept them. You can send them again afterwards.",
      ),
      action: t("Mark as failed"),
    };
  return {
    title: plural(count, "Send {n} email again?", "Send {n} emails again?"),
    description: t("Recipients who did get the email will get it twice."),
    action: t("Send again"),
  };
}

function ResolveDialog({ projectId, campaign, as, onClose }: AskProps & { as: Resolution }) {
  const resolving = useCampaignAction(
    projectId,
    () => call(api.campaigns.resolve, { projectId, params: { id: campaign.id }, body: { as } }),
    t("Status updated"),
  );
  return (
    <ConfirmDialog
      {...wordsFor(as, campaign.unconfirmedCount)}
      keep={t("Cancel")}
      doing={{ ...resolving, mutate: () => resolving.mutate(undefined, { onSuccess: onClose }) }}
      onClose={onClose}
    />
  );
}

// Those who got nothing, or of whom nobody knows: what a person may still do about them.
import { useState } from "react";
import type { Resolution } from "@postloft/contract/emails.ts";
import { call } from "../../api/call.ts";
import { resolveCampaign, retryFailedCampaign } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { useVerb, type ReportProps } from "./campaign-queries.ts";

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
          <Button onClick={() => setAsked("retry-failed")}>{t("Send to them again …")}</Button>
        </div>
      )}
      {unconfirmedCount > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-120">
            {plural(
              unconfirmedCount,
              "{n} mail was handed over without an answer: nobody knows whether it was taken.",
              "{n} mails were handed over without an answer: nobody knows whether they were taken.",
            )}
          </p>
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setAsked("sent")}>{t("They arrived …")}</Button>
            <Button onClick={() => setAsked("failed")}>{t("They did not …")}</Button>
            {status !== "CANCELLED" && <Button onClick={() => setAsked("retry")}>{t("Send again …")}</Button>}
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
  const retrying = useVerb(
    projectId,
    () => call(retryFailedCampaign, { projectId, params: { id } }),
    t("They are tried again"),
  );
  return (
    <ConfirmDialog
      title={plural(failedCount, "Send to {n} recipient again?", "Send to {n} recipients again?")}
      description={t(
        "Only those whose mail failed. Nobody who got it, or may have got it, gets it a second time.",
      )}
      action={t("Send again")}
      keep={t("Not yet")}
      doing={{ ...retrying, mutate: () => retrying.mutate(undefined, { onSuccess: onClose }) }}
      onClose={onClose}
    />
  );
}

/** What is said of mails in doubt counts at once, and cannot be taken back. */
function wordsFor(as: Resolution, count: number): { title: string; description: string; action: string } {
  if (as === "sent")
    return {
      title: plural(count, "Count {n} mail as sent?", "Count {n} mails as sent?"),
      description: t("Say so when the mail server's log shows that it took them. It cannot be taken back."),
      action: t("They arrived"),
    };
  if (as === "failed")
    return {
      title: plural(count, "Count {n} mail as failed?", "Count {n} mails as failed?"),
      description: t(
        "Say so when the mail server's log shows that it did not take them. They can be sent again afterwards.",
      ),
      action: t("They did not arrive"),
    };
  return {
    title: plural(count, "Send {n} mail again?", "Send {n} mails again?"),
    description: t("Whoever got the mail after all gets it twice."),
    action: t("Send again"),
  };
}

function ResolveDialog({ projectId, campaign, as, onClose }: AskProps & { as: Resolution }) {
  const resolving = useVerb(
    projectId,
    () => call(resolveCampaign, { projectId, params: { id: campaign.id }, body: { as } }),
    t("Noted"),
  );
  return (
    <ConfirmDialog
      {...wordsFor(as, campaign.unconfirmedCount)}
      keep={t("Not yet")}
      doing={{ ...resolving, mutate: () => resolving.mutate(undefined, { onSuccess: onClose }) }}
      onClose={onClose}
    />
  );
}

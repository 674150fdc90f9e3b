// Resolves an email in doubt by the user's decision. Asks for confirmation because the decision counts immediately.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Resolution } from "@postloft/contract/emails.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import type { WholeEmail } from "./email-query.ts";

interface DoubtProps {
  projectId: string;
  email: WholeEmail;
}

export function Doubt({ projectId, email }: DoubtProps) {
  const [asked, setAsked] = useState<Resolution | null>(null);
  return (
    <Card className="bg-warn-wash p-5">
      <h2 className="font-medium text-warn">{t("The mail server didn't confirm this email")}</h2>
      <p className="mt-1 mb-3 text-sm text-soft">
        {t("Check the mail server's log, then choose the result here.")}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setAsked("sent")}>{t("Mark as sent…")}</Button>
        <Button onClick={() => setAsked("failed")}>{t("Mark as failed…")}</Button>
        {email.campaignId === null && <Button onClick={() => setAsked("retry")}>{t("Send again…")}</Button>}
      </div>
      {asked !== null && (
        <ResolveDialog projectId={projectId} email={email} as={asked} onClose={() => setAsked(null)} />
      )}
    </Card>
  );
}

const WORDS: Record<Resolution, { title: string; description: string; action: string }> = {
  sent: {
    title: t("Mark this email as sent?"),
    description: t("Do this if the mail server's log shows it accepted the email. This can't be undone."),
    action: t("Mark as sent"),
  },
  failed: {
    title: t("Mark this email as failed?"),
    description: t(
      "Do this if the mail server's log shows it didn't accept the email. This can't be undone.",
    ),
    action: t("Mark as failed"),
  },
  retry: {
    title: t("Send this email again?"),
    description: t("Recipients who did get the email will get it twice."),
    action: t("Send again"),
  },
};

interface ResolveDialogProps extends DoubtProps {
  as: Resolution;
  onClose: () => void;
}

function ResolveDialog({ projectId, email: { id }, as, onClose }: ResolveDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const resolving = useMutation({
    mutationFn: () => call(api.emails.resolve, { projectId, params: { id }, body: { as } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: projectKey(projectId) });
      toast(t("Status updated"));
      onClose();
    },
  });
  return <ConfirmDialog {...WORDS[as]} keep={t("Cancel")} doing={resolving} onClose={onClose} />;
}

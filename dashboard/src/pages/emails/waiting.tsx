// Changes the time of a scheduled email, and cancels emails that wait.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, CallError } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScheduleDialog } from "../../ui/schedule-dialog.tsx";
import { useToast } from "../../ui/toasts.tsx";
import type { WholeEmail } from "./email-query.ts";
import { isScheduled } from "./statuses.tsx";

interface WaitingProps {
  projectId: string;
  email: WholeEmail;
}

/** Shows a scheduled email. A dialog stays open if the email is sent in the meantime, so that the response can explain it. */
export function Waiting({ projectId, email }: WaitingProps) {
  const [asked, setAsked] = useState<"schedule" | "cancel" | null>(null);
  const props = { projectId, email, onClose: () => setAsked(null) };
  const { status, scheduledFor } = email;
  return (
    <>
      {status === "QUEUED" && email.campaignId === null && (
        <Card className="p-5">
          <h2 className="font-medium">
            {isScheduled(email) && scheduledFor !== null
              ? t("Scheduled for {when}", { when: formatInstant(scheduledFor) })
              : t("Waiting to be sent")}
          </h2>
          {isScheduled(email) && (
            <p className="mt-1 text-sm text-soft">
              {t("In your time zone, {zone}.", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
            </p>
          )}
          <div className="mt-3 flex flex-wrap gap-2">
            {isScheduled(email) && <Button onClick={() => setAsked("schedule")}>{t("Reschedule…")}</Button>}
            <Button onClick={() => setAsked("cancel")}>{t("Cancel email…")}</Button>
          </div>
        </Card>
      )}
      {asked === "schedule" && <RescheduleDialog {...props} />}
      {asked === "cancel" && <CancelDialog {...props} />}
    </>
  );
}

interface AskedProps extends WaitingProps {
  onClose: () => void;
}

const CONFLICT = 409;

/** Runs an action on the email and refetches. A conflict means that the email no longer waits, so the dialog closes with the reason. */
function useAction<Input, Result>(
  { projectId, onClose }: AskedProps,
  act: (input: Input) => Promise<Result>,
  said: (result: Result) => Parameters<ReturnType<typeof useToast>>,
) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      toast(...said(result));
      onClose();
    },
    onError: (error) => {
      if (!(error instanceof CallError) || error.status !== CONFLICT) return;
      toast(t("That didn't work"), error.message);
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: projectKey(projectId) }),
  });
}

function RescheduleDialog(props: AskedProps) {
  const { projectId, email, onClose } = props;
  const rescheduling = useAction(
    props,
    (scheduledFor: string) =>
      call(api.emails.reschedule, { projectId, params: { id: email.id }, body: { scheduledFor } }),
    ({ scheduledFor }) => [t("Email rescheduled"), formatInstant(scheduledFor ?? email.createdAt)],
  );
  return (
    <ScheduleDialog
      title={t("Reschedule email")}
      planned={email.scheduledFor}
      doing={rescheduling}
      onClose={onClose}
    />
  );
}

function CancelDialog(props: AskedProps) {
  const { projectId, email, onClose } = props;
  const canceling = useAction(
    props,
    () => call(api.emails.cancel, { projectId, params: { id: email.id } }),
    ({ neverSent }) =>
      neverSent
        ? [t("The email was canceled and never sent.")]
        : [t("The email was canceled."), t("An earlier attempt got no reply, so it may have been sent.")],
  );
  return (
    <ConfirmDialog
      title={t("Cancel this email?")}
      description={t("The email won't be sent. This can't be undone.")}
      action={t("Cancel email")}
      keep={t("Keep email")}
      doing={{ ...canceling, mutate: () => canceling.mutate(undefined) }}
      onClose={onClose}
    />
  );
}

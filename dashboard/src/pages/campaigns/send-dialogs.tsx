// Dialogs that send a campaign now or schedule it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ConfirmableFinding } from "@postloft/contract/campaign-findings.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ScheduleDialog } from "../../ui/schedule-dialog.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { LeftOut } from "./audience-step.tsx";
import { audienceQuery, type Campaign } from "./campaign-queries.ts";

export interface DialogProps {
  projectId: string;
  campaign: Campaign;
  /** Codes of findings that the user accepted. */
  confirm: readonly ConfirmableFinding[];
  onClose: () => void;
}

function useSending({ projectId, campaign, confirm, onClose }: DialogProps, said: string) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: (scheduledFor: string | null) =>
      call(api.campaigns.send, {
        projectId,
        params: { id: campaign.id },
        body: {
          ...(scheduledFor === null ? {} : { scheduledFor }),
          ...(confirm.length === 0 ? {} : { confirm: [...confirm] }),
        },
      }),
    onSuccess: async () => {
      toast(said, campaign.name);
      onClose();
      await queries.invalidateQueries({ queryKey: resourceKey(api.campaigns.list, { projectId }) });
    },
  });
}

export function SendDialog(props: DialogProps) {
  const audience = useQuery(audienceQuery(props.projectId, props.campaign));
  const sending = useSending(props, t("Sending campaign"));
  const count = audience.data?.eligible;
  return (
    <Dialog
      title={
        count === undefined
          ? t("Send this campaign now?")
          : plural(count, "Send to {n} contact now?", "Send to {n} contacts now?")
      }
      description={t("You can pause it while it's sending. Emails already sent can't be recalled.")}
      open
      onClose={props.onClose}
    >
      {audience.data !== undefined && <LeftOut audience={audience.data} />}
      {sending.isError && <Failure error={sending.error} />}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={props.onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          busy={sending.isPending}
          disabled={audience.isPending}
          onClick={() => sending.mutate(null)}
        >
          {t("Send now")}
        </Button>
      </div>
    </Dialog>
  );
}

export function ScheduleCampaignDialog(props: DialogProps) {
  const sending = useSending(props, t("Campaign scheduled"));
  return (
    <ScheduleDialog
      title={t("Schedule campaign")}
      planned={props.campaign.scheduledAt}
      doing={sending}
      onClose={props.onClose}
    />
  );
}

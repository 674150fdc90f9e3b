// Copies, cancels and deletes campaigns, from the list and from the campaign's page.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { plural, t } from "../../text/t.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { useDelayedDeletion } from "../use-delayed-deletion.ts";
import { useCampaignAction, type Campaign } from "./campaign-queries.ts";
import { deleteKeptDrafts } from "./kept-drafts.ts";

/** The properties the actions need, which rows of the list also have. */
export type CampaignActionTarget = Pick<Campaign, "id" | "name" | "status" | "pendingCount">;

interface ActionProps {
  projectId: string;
  campaign: CampaignActionTarget;
  onClose: () => void;
}

/** Returns whether the campaign is scheduled or sending, so that it must be canceled before deletion. */
export function isScheduledOrSending({ status }: CampaignActionTarget): boolean {
  return status === "SENDING" || status === "PAUSED" || status === "SCHEDULED";
}

export function useDuplicating(projectId: string, { id }: CampaignActionTarget) {
  const navigate = useNavigate();
  return useCampaignAction(
    projectId,
    async () => {
      const copy = await call(api.campaigns.duplicate, { projectId, params: { id } });
      const params = { projectId, campaignId: copy.id };
      await navigate({ to: "/$projectId/campaigns/$campaignId", params, search: {} });
    },
    t("Duplicated"),
  );
}

/** Turns a scheduled campaign back into a draft. */
export function useUnscheduling(projectId: string, { id }: CampaignActionTarget) {
  return useCampaignAction(
    projectId,
    () => call(api.campaigns.cancel, { projectId, params: { id } }),
    t("Moved back to draft"),
  );
}

export function CancelDialog({ projectId, campaign, onClose }: ActionProps) {
  const { id, pendingCount } = campaign;
  const cancelling = useCampaignAction(
    projectId,
    () => call(api.campaigns.cancel, { projectId, params: { id } }),
    t("Canceled"),
  );
  return (
    <ConfirmDialog
      title={t("Cancel sending?")}
      description={plural(
        pendingCount,
        "{n} recipient hasn't received it and won't. Emails already sent can't be recalled.",
        "{n} recipients haven't received it and won't. Emails already sent can't be recalled.",
      )}
      action={t("Cancel sending")}
      keep={t("Keep sending")}
      doing={{ ...cancelling, mutate: () => cancelling.mutate(undefined, { onSuccess: onClose }) }}
      onClose={onClose}
    />
  );
}

interface DeleteProps extends ActionProps {
  /** Navigates away from the deleted campaign. */
  onDeleted: () => Promise<void> | void;
}

async function remove(projectId: string, id: string): Promise<void> {
  await call(api.campaigns.delete, { projectId, params: { id } });
  deleteKeptDrafts(id);
}

/** Returns a function that deletes a draft with a delay for undo, or undefined for other campaigns, which need a confirmation. */
export function useDraftDeletion(
  projectId: string,
  { id, name, status }: CampaignActionTarget,
): (() => void) | undefined {
  const deleteLater = useDelayedDeletion(projectId);
  if (status !== "DRAFT") return undefined;
  return () => deleteLater({ id, name, remove: () => remove(projectId, id) });
}

/** Confirms the deletion of a campaign that is not a draft. */
export function DeleteDialog({ projectId, campaign, onClose, onDeleted }: DeleteProps) {
  const queries = useQueryClient();
  const deleting = useCampaignAction(
    projectId,
    async () => {
      await remove(projectId, campaign.id);
      await onDeleted();
      queries.removeQueries({
        queryKey: resourceKey(api.campaigns.get, { projectId, params: { id: campaign.id } }),
      });
    },
    t("Campaign deleted"),
  );
  return (
    <ConfirmDialog
      title={t("Delete this campaign?")}
      description={t("This also deletes the report of “{name}”. Its emails still count in your totals.", {
        name: campaign.name,
      })}
      action={t("Delete campaign")}
      doing={deleting}
      onClose={onClose}
    />
  );
}

/** The actions as a menu in the list. */
export function CampaignMenu({ projectId, campaign }: Omit<ActionProps, "onClose">) {
  const [asked, setAsked] = useState<"cancel" | "delete" | null>(null);
  const copying = useDuplicating(projectId, campaign);
  const unscheduling = useUnscheduling(projectId, campaign);
  const deleteDraft = useDraftDeletion(projectId, campaign);
  const props = { projectId, campaign, onClose: () => setAsked(null) };
  return (
    <>
      <Menu
        label={t("Actions for {name}", { name: campaign.name })}
        className="relative inline-grid size-7 place-items-center rounded-sm text-faint hover:bg-press hover:text-ink data-popup-open:bg-press"
        button={<Ellipsis size={15} aria-hidden />}
      >
        <MenuItem onSelect={() => copying.mutate()}>{t("Duplicate")}</MenuItem>
        {campaign.status === "SCHEDULED" && (
          <MenuItem onSelect={() => unscheduling.mutate()}>{t("Move back to draft")}</MenuItem>
        )}
        {(campaign.status === "SENDING" || campaign.status === "PAUSED") && (
          <MenuItem onSelect={() => setAsked("cancel")}>{t("Cancel sending…")}</MenuItem>
        )}
        {deleteDraft !== undefined && <MenuItem onSelect={deleteDraft}>{t("Delete")}</MenuItem>}
        {deleteDraft === undefined && !isScheduledOrSending(campaign) && (
          <MenuItem onSelect={() => setAsked("delete")}>{t("Delete…")}</MenuItem>
        )}
      </Menu>
      {asked === "cancel" && <CancelDialog {...props} />}
      {asked === "delete" && <DeleteDialog {...props} onDeleted={props.onClose} />}
    </>
  );
}

// Queries, mutations and status labels shared by the campaign pages.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import type { CampaignStatus, replaceCampaign as replaceEndpoint } from "@postloft/contract/campaigns.ts";
import type { Design } from "@postloft/contract/design.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call, CallError, isChangedMeanwhile } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import type { Tone } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isBlocks } from "../templates/blocks/block-tree.ts";

const POLL_EVERY_MS = 2_000;
/** A scheduled campaign starts without user action, so poll it. */
const SCHEDULED_POLL_INTERVAL_MS = 15_000;

const OFFERED_TEMPLATES = "100";

export type Campaign = ApiResponse<typeof api.campaigns.get>;
export type CampaignBody = z.input<(typeof replaceEndpoint)["body"]>;

/** Props of each part of a campaign's report. */
export interface ReportProps {
  projectId: string;
  campaign: Campaign;
}

export const STATUSES: Record<CampaignStatus, { tone: Tone; label: string }> = {
  DRAFT: { tone: "neutral", label: t("Draft") },
  SCHEDULED: { tone: "warn", label: t("Scheduled") },
  SENDING: { tone: "good", label: t("Sending") },
  PAUSED: { tone: "warn", label: t("Paused") },
  SENT: { tone: "good", label: t("Sent") },
  CANCELLED: { tone: "neutral", label: t("Canceled") },
};

/** Polls a campaign while it is scheduled or sending. */
export function campaignQuery(projectId: string, id: string) {
  return queryOptions({
    ...query(api.campaigns.get, { projectId, params: { id } }),
    refetchInterval: ({ state: { data } }) => {
      if (data?.status === "SCHEDULED") return SCHEDULED_POLL_INTERVAL_MS;
      const isMoving = data?.status === "SENDING" || (data?.status === "CANCELLED" && data.pendingCount > 0);
      return isMoving ? POLL_EVERY_MS : false;
    },
  });
}

/** Returns the audience if the campaign were sent now. */
export function audienceQuery(projectId: string, campaign: Campaign) {
  return query(api.campaigns.audience, { projectId, params: { id: campaign.id } }, campaign.updatedAt);
}

/** Returns the templates a campaign can start from, newest first. */
export function offeredTemplatesQuery(projectId: string) {
  return query(api.templates.list, { projectId, query: { limit: OFFERED_TEMPLATES } });
}

/** Returns the blocks of a campaign or template, or null if it was written as HTML. The server stores only valid blocks. */
export function blocksOf({ design }: Pick<Campaign, "design">): Design | null {
  return isBlocks(design) ? (design as unknown as Design) : null;
}

/**
 * Returns the full body for `PUT`, because missing fields would be reset. Blocks generate the HTML body and
 * contain the preview text; changing the HTML drops the blocks.
 */
function bodyOf(campaign: Campaign, change: Partial<CampaignBody>): CampaignBody {
  const { name, description, subject, previewText, body, from, fromName, replyTo, kind } = campaign;
  const { audienceType, segmentId, audienceFilter } = campaign;
  const kept = change.body === undefined ? campaign.design : null;
  const { design = kept } = change;
  return {
    name,
    description,
    subject,
    previewText,
    body,
    from,
    fromName,
    replyTo,
    kind,
    audienceType,
    segmentId,
    audienceFilter: audienceFilter as CampaignBody["audienceFilter"],
    ...change,
    design,
    ...(isBlocks(design) ? { body: undefined, previewText: undefined } : {}),
  };
}

/** Returns the latest known campaign. A save's response wins until the query returns something newer. */
export function useLatestCampaign(campaign: Campaign): [Campaign, (response: Campaign) => void] {
  const [response, setResponse] = useState(campaign);
  return [response.updatedAt > campaign.updatedAt ? response : campaign, setResponse];
}

/**
 * Changes fields of a draft and keeps all others. Saves run one after the other, so that the last one wins.
 * @param isChangedElsewhere returns whether the change would overwrite someone else's edit; the save then fails and the current campaign is
 * shown
 */
export function useSavingCampaign(
  projectId: string,
  campaign: Campaign,
  isChangedElsewhere: (now: Campaign) => boolean = () => false,
) {
  const queries = useQueryClient();
  return useMutation({
    scope: { id: `campaign ${campaign.id}` },
    mutationFn: async (change: Partial<CampaignBody>) => {
      const params = { id: campaign.id };
      const save = async () => {
        const now = await call(api.campaigns.get, { projectId, params });
        if (isChangedElsewhere(now)) {
          queries.setQueryData(campaignQuery(projectId, campaign.id).queryKey, now);
          throw new CallError(t("Someone else changed this campaign."), { code: "CHANGED_MEANWHILE" });
        }
        const body = { ...bodyOf(now, change), expectedUpdatedAt: now.updatedAt };
        return call(api.campaigns.replace, { projectId, params, body });
      };
      // If someone saves between the read and the write, read again so that their change is kept.
      return save().catch((error: unknown) => {
        if (isChangedMeanwhile(error)) return save();
        throw error;
      });
    },
    onSuccess: ({ warnings: _warnings, ...saved }) => {
      queries.setQueryData(campaignQuery(projectId, campaign.id).queryKey, saved);
    },
  });
}

/** Runs an action on a campaign and refetches all campaign queries. */
export function useCampaignAction<Input = void>(
  projectId: string,
  verb: (given: Input) => Promise<unknown>,
  said: string,
) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: verb,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.campaigns.list, { projectId }) });
      toast(said);
    },
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
}

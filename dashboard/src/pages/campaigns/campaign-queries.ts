// What several parts of the campaigns' pages ask the server, and in which words a campaign stands.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import type { CampaignStatus, replaceCampaign as replaceEndpoint } from "@postloft/contract/campaigns.ts";
import type { Design } from "@postloft/contract/design.ts";
import { call, CallError, isChangedMeanwhile, type Answer } from "../../api/call.ts";
import { getCampaign, getCampaignAudience, listTemplates, replaceCampaign } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import type { Tone } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isBlocks } from "../templates/blocks/block-tree.ts";

const LOOK_EVERY_MS = 2_000;
/** A scheduled campaign leaves by itself. */
const LOOK_AT_SCHEDULED_EVERY_MS = 15_000;

const OFFERED_TEMPLATES = "100";

export type Campaign = Answer<NonNullable<typeof getCampaign.endpoint>>;
export type CampaignBody = z.input<(typeof replaceEndpoint)["body"]>;

/** Of each part of the report on a campaign. */
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

/** A campaign; while it is under way it is asked for again and again. */
export function campaignQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "campaigns", id],
    queryFn: ({ signal }) => call(getCampaign, { projectId, params: { id }, signal }),
    refetchInterval: ({ state: { data } }) => {
      if (data?.status === "SCHEDULED") return LOOK_AT_SCHEDULED_EVERY_MS;
      const isMoving = data?.status === "SENDING" || (data?.status === "CANCELLED" && data.pendingCount > 0);
      return isMoving ? LOOK_EVERY_MS : false;
    },
  });
}

/** Who would get it now. */
export function audienceQuery(projectId: string, campaign: Campaign) {
  return queryOptions({
    queryKey: ["project", projectId, "campaigns", campaign.id, "audience", campaign.updatedAt],
    queryFn: ({ signal }) => call(getCampaignAudience, { projectId, params: { id: campaign.id }, signal }),
  });
}

/** The templates whose text a campaign may begin with, newest first. */
export function offeredTemplatesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "templates", "offered"],
    queryFn: ({ signal }) => call(listTemplates, { projectId, query: { limit: OFFERED_TEMPLATES }, signal }),
  });
}

/** The blocks of a campaign or a template; null where it was written as HTML. The server stores none that is not one. */
export function blocksOf({ design }: Pick<Campaign, "design">): Design | null {
  return isBlocks(design) ? (design as unknown as Design) : null;
}

/** The campaign as `PUT` takes it, with a change: what is left out would be reset. Blocks bring their body; HTML changed alone has none. */
function bodyOf(campaign: Campaign, change: Partial<CampaignBody>): CampaignBody {
  const { name, description, subject, body, from, fromName, replyTo, kind } = campaign;
  const { audienceType, segmentId, audienceFilter } = campaign;
  const kept = change.body === undefined ? campaign.design : null;
  const { design = kept } = change;
  return {
    name,
    description,
    subject,
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
    ...(isBlocks(design) ? { body: undefined } : {}),
  };
}

/** The campaign as far as it is known here: the answer to the last save, until whoever reads the campaign has it too. */
export function useKnown(campaign: Campaign): [Campaign, (answer: Campaign) => void] {
  const [answer, setAnswer] = useState(campaign);
  return [answer.updatedAt > campaign.updatedAt ? answer : campaign, setAnswer];
}

/**
 * Changes a draft: what is not named stays as the server has it. One change after the other, so that the last one counts.
 *
 * @param isChangedElsewhere whether what a change would replace is not what it was made over: the change fails, and the campaign is
 *   shown as it is now
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
        const now = await call(getCampaign, { projectId, params });
        if (isChangedElsewhere(now)) {
          queries.setQueryData(campaignQuery(projectId, campaign.id).queryKey, now);
          throw new CallError(t("Someone else changed this campaign."), { code: "CHANGED_MEANWHILE" });
        }
        const body = { ...bodyOf(now, change), expectedUpdatedAt: now.updatedAt };
        return call(replaceCampaign, { projectId, params, body });
      };
      // Somebody may save between the two: then it is read again, and what they wrote stays.
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

/** One verb on a campaign, after which everything about it is asked again. */
export function useVerb<Given = void>(
  projectId: string,
  verb: (given: Given) => Promise<unknown>,
  said: string,
) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: verb,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["project", projectId, "campaigns"] });
      toast(said);
    },
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
}

// Shows a campaign: the editor for a draft, otherwise its report.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Badge, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Gone, useIsBeingDeleted } from "../gone.tsx";
import { useProject } from "../project-shell.tsx";
import { DeleteDialog, isScheduledOrSending, useDraftDeletion, useDuplicating } from "./campaign-actions.tsx";
import { CampaignEditor } from "./campaign-editor.tsx";
import { campaignQuery, STATUSES, type Campaign } from "./campaign-queries.ts";
import { CampaignReport } from "./campaign-report.tsx";
import { ScheduledCampaign } from "./scheduled-campaign.tsx";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");

export function CampaignPage() {
  const project = useProject();
  const { campaignId } = route.useParams();
  const campaign = useQuery(campaignQuery(project.id, campaignId));
  const { data } = campaign;
  const isDraft = data?.status === "DRAFT";
  if (useIsBeingDeleted(campaignId)) return <Gone name={data?.name ?? t("Campaign")} />;
  return (
    <Page
      title={data?.name ?? t("Campaign")}
      actions={data !== undefined && <Actions projectId={project.id} campaign={data} />}
    >
      <div className="-mt-3 mb-5 flex items-center gap-3 text-sm">
        <Link
          to="/$projectId/campaigns"
          params={{ projectId: project.id }}
          search={{}}
          className="inline-flex items-center gap-1.5 text-soft hover:text-ink"
        >
          <ArrowLeft size={14} aria-hidden /> {t("All campaigns")}
        </Link>
        {data !== undefined && <Badge tone={STATUSES[data.status].tone}>{STATUSES[data.status].label}</Badge>}
      </div>
      {campaign.isPending && <Skeleton className="h-80" />}
      {campaign.isError && <Failure error={campaign.error} onRetry={() => void campaign.refetch()} />}
      {data?.status === "SCHEDULED" && <ScheduledCampaign project={project} campaign={data} />}
      {isDraft && <CampaignEditor key={data.id} project={project} campaign={data} />}
      {data !== undefined && !isDraft && data.status !== "SCHEDULED" && (
        <CampaignReport projectId={project.id} campaign={data} />
      )}
    </Page>
  );
}

function Actions({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const copying = useDuplicating(projectId, campaign);
  const deleteDraft = useDraftDeletion(projectId, campaign);
  const leave = () =>
    navigate({ to: "/$projectId/campaigns", params: { projectId }, search: {}, ignoreBlocker: true });
  const remove = async () => {
    if (deleteDraft === undefined) return setDeleting(true);
    await leave();
    deleteDraft();
  };
  return (
    <>
      <Button look="quiet" busy={copying.isPending} onClick={() => copying.mutate()}>
        {t("Duplicate")}
      </Button>
      {!isScheduledOrSending(campaign) && (
        <Button look="quiet" onClick={() => void remove()}>
          {t("Delete")}
        </Button>
      )}
      {isDeleting && (
        <DeleteDialog
          projectId={projectId}
          campaign={campaign}
          onClose={() => setDeleting(false)}
          onDeleted={leave}
        />
      )}
    </>
  );
}

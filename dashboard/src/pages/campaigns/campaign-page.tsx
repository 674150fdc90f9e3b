// One campaign: a draft is edited in steps, one that left is reported on. Before it: campaigns-page.tsx.
// After it: campaign-editor.tsx, campaign-report.tsx.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { cancelCampaign, deleteCampaign, duplicateCampaign } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Badge, Card, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useProject } from "../project-shell.tsx";
import { CampaignEditor } from "./campaign-editor.tsx";
import { campaignQuery, STATUSES, useVerb, type Campaign } from "./campaign-queries.ts";
import { CampaignReport } from "./campaign-report.tsx";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");

export function CampaignPage() {
  const project = useProject();
  const { campaignId } = route.useParams();
  const campaign = useQuery(campaignQuery(project.id, campaignId));
  const { data } = campaign;
  const isDraft = data?.status === "DRAFT";
  return (
    <Page
      title={data?.name ?? t("Campaign")}
      width="wide"
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
      {data?.status === "SCHEDULED" && <Scheduled projectId={project.id} campaign={data} />}
      {isDraft && <CampaignEditor key={data.id} project={project} campaign={data} />}
      {data !== undefined && !isDraft && data.status !== "SCHEDULED" && (
        <CampaignReport projectId={project.id} campaign={data} />
      )}
    </Page>
  );
}

function Scheduled({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const cancelling = useVerb(
    projectId,
    () => call(cancelCampaign, { projectId, params: { id: campaign.id } }),
    t("It is a draft again"),
  );
  return (
    <Card className="max-w-2xl p-5">
      <h2 className="font-semibold">
        {t("Leaves on {when}", { when: formatInstant(campaign.scheduledAt ?? campaign.createdAt) })}
      </h2>
      <p className="mt-1 text-sm text-soft">
        {campaign.heldReason ?? t("Who gets it is decided at that moment.")}
      </p>
      <Button className="mt-4" busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
        {t("Back to the draft")}
      </Button>
    </Card>
  );
}

function Actions({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const params = { id: campaign.id };
  const copying = useVerb(
    projectId,
    async () => {
      const { id } = await call(duplicateCampaign, { projectId, params });
      await navigate({
        to: "/$projectId/campaigns/$campaignId",
        params: { projectId, campaignId: id },
        search: {},
      });
    },
    t("This is the copy"),
  );
  const deleting = useVerb(
    projectId,
    async () => {
      await call(deleteCampaign, { projectId, params });
      const to = { to: "/$projectId/campaigns", params: { projectId }, search: {} } as const;
      await navigate({ ...to, ignoreBlocker: true });
      queries.removeQueries({ queryKey: campaignQuery(projectId, campaign.id).queryKey });
    },
    t("Campaign deleted"),
  );
  const isUnderWay =
    campaign.status === "SENDING" || campaign.status === "PAUSED" || campaign.status === "SCHEDULED";
  return (
    <>
      <Button look="quiet" busy={copying.isPending} onClick={() => copying.mutate()}>
        {t("Duplicate")}
      </Button>
      {!isUnderWay && (
        <Button look="quiet" onClick={() => setDeleting(true)}>
          {t("Delete")}
        </Button>
      )}
      {isDeleting && (
        <ConfirmDialog
          title={t("Delete this campaign?")}
          description={t("Its report goes with it. Its mails stay in the books.")}
          action={t("Delete campaign")}
          doing={deleting}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

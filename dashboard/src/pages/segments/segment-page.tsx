// Shows or creates a segment: its filter with a live count, and its members.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { NewCampaignDialog } from "../campaigns/new-campaign-dialog.tsx";
import { Gone, useIsBeingDeleted } from "../gone.tsx";
import { useProject } from "../project-shell.tsx";
import { useDelayedDeletion } from "../use-delayed-deletion.ts";
import { SegmentEditor } from "./segment-editor.tsx";
import { SegmentMembers } from "./segment-members.tsx";
import { segmentQuery, type Segment } from "./segment-queries.ts";

const route = getRouteApi("/signed-in/$projectId/segments/$segmentId");

export function NewSegmentPage() {
  const project = useProject();
  return (
    <Page title={t("New segment")}>
      <Back projectId={project.id} />
      <SegmentEditor projectId={project.id} segment={null} onTaken={() => undefined} />
    </Page>
  );
}

export function SegmentPage() {
  const project = useProject();
  const { segmentId } = route.useParams();
  const [taken, setTaken] = useState(0);
  const [isUsing, setUsing] = useState(false);
  const segment = useQuery(segmentQuery(project.id, segmentId));
  const { data } = segment;
  if (useIsBeingDeleted(segmentId)) return <Gone name={data?.name ?? t("Segment")} />;
  return (
    <Page
      title={data?.name ?? t("Segment")}
      actions={
        data !== undefined && (
          <>
            <DeleteButton projectId={project.id} segment={data} />
            <Button onClick={() => setUsing(true)}>{t("Use in a campaign")}</Button>
          </>
        )
      }
    >
      <Back projectId={project.id} />
      {segment.isPending && <Skeleton className="h-80" />}
      {segment.isError && <Failure error={segment.error} onRetry={() => void segment.refetch()} />}
      {data !== undefined && (
        <div className="flex flex-col gap-8">
          <SegmentEditor
            key={`${data.id} ${taken}`}
            projectId={project.id}
            segment={data}
            onTaken={() => setTaken(taken + 1)}
          />
          <SegmentMembers projectId={project.id} segment={data} />
        </div>
      )}
      {isUsing && (
        <NewCampaignDialog project={project} segmentId={segmentId} onClose={() => setUsing(false)} />
      )}
    </Page>
  );
}

function Back({ projectId }: { projectId: string }) {
  return (
    <Link
      to="/$projectId/segments"
      params={{ projectId }}
      className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
    >
      <ArrowLeft size={14} aria-hidden /> {t("All segments")}
    </Link>
  );
}

function DeleteButton({ projectId, segment }: { projectId: string; segment: Segment }) {
  const navigate = useNavigate();
  const deleteLater = useDelayedDeletion(projectId);
  const remove = async () => {
    await navigate({ to: "/$projectId/segments", params: { projectId }, ignoreBlocker: true });
    const { id, name } = segment;
    deleteLater({ id, name, remove: () => call(api.segments.delete, { projectId, params: { id } }) });
  };
  return (
    <Button look="quiet" onClick={() => void remove()}>
      {t("Delete")}
    </Button>
  );
}

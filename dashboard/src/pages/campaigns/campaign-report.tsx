// A campaign's report: progress, results, activity over time, clicked links and recipients.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { ByProvider } from "./by-provider.tsx";
import { CampaignActivity } from "./campaign-activity.tsx";
import { CampaignNumbers, Comparison, usePrevious } from "./campaign-numbers.tsx";
import type { ReportProps } from "./campaign-queries.ts";
import { PausedDestinations, UnderWay } from "./campaign-under-way.tsx";
import { ClickMap, Links } from "./click-map.tsx";
import { Leftovers } from "./leftovers.tsx";
import { Recipients } from "./recipients.tsx";
import { SentMail } from "./sent-mail.tsx";

const route = getRouteApi("/signed-in/$projectId/campaigns/$campaignId");
const POLL_EVERY_MS = 15_000;

export function CampaignReport({ projectId, campaign }: ReportProps) {
  const { view = "report" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="flex flex-col gap-6">
      <UnderWay projectId={projectId} campaign={campaign} />
      <PausedDestinations projectId={projectId} campaign={campaign} />
      <Leftovers projectId={projectId} campaign={campaign} />
      <div>
        <Choices
          look="tabs"
          label={t("Campaign view")}
          options={[
            { value: "report", label: t("Report") },
            { value: "clicks", label: t("Click map") },
            { value: "mail", label: t("Email") },
          ]}
          value={view}
          onChoose={(chosen) => void navigate({ search: chosen === "report" ? {} : { view: chosen } })}
        />
        {view === "mail" && <SentMail projectId={projectId} campaign={campaign} />}
        {view === "clicks" && <ClickMap projectId={projectId} campaign={campaign} />}
        {view === "report" && <Results projectId={projectId} campaign={campaign} />}
      </div>
    </div>
  );
}

function Results({ projectId, campaign }: ReportProps) {
  const { id, status, pendingCount, startedAt } = campaign;
  const stats = useQuery({
    ...query(api.campaigns.stats, { projectId, params: { id } }, status, pendingCount),
    placeholderData: (before) => before,
    refetchInterval: POLL_EVERY_MS,
  });
  const { data: previous = [] } = usePrevious(projectId, id);
  return (
    <div className="flex flex-col gap-6">
      {stats.isPending && <Skeleton className="h-24" />}
      {stats.isError && <Failure error={stats.error} onRetry={() => void stats.refetch()} />}
      {stats.data !== undefined && (
        <>
          <CampaignNumbers stats={stats.data} previous={previous} />
          {startedAt !== null && (
            <CampaignActivity projectId={projectId} campaign={campaign} startedAt={startedAt} />
          )}
          <Links links={stats.data.links} />
          {stats.data.sentCount > 0 && (
            <ByProvider projectId={projectId} campaignId={id} stats={stats.data} />
          )}
          <Comparison projectId={projectId} campaign={campaign} stats={stats.data} previous={previous} />
        </>
      )}
      <Recipients projectId={projectId} campaign={campaign} />
    </div>
  );
}

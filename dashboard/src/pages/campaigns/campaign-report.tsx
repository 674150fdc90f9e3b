// What became of a campaign: how far it is, what came back, which links were followed, and each recipient. Before it: campaign-page.tsx.
import { useQuery } from "@tanstack/react-query";
import { call, type Answer } from "../../api/call.ts";
import {
  cancelCampaign,
  getCampaignStats,
  pauseCampaign,
  releaseCampaign,
  resolveCampaign,
  resumeCampaign,
  retryFailedCampaign,
} from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatInstant, formatNumber, formatPercent } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import { useVerb, type Campaign } from "./campaign-queries.ts";
import { Recipients } from "./recipients.tsx";

const LOOK_EVERY_MS = 15_000;

interface ReportProps {
  projectId: string;
  campaign: Campaign;
}
type Stats = Answer<NonNullable<typeof getCampaignStats.endpoint>>;

export function CampaignReport({ projectId, campaign }: ReportProps) {
  const stats = useQuery({
    queryKey: [
      "project",
      projectId,
      "campaigns",
      campaign.id,
      "stats",
      campaign.status,
      campaign.pendingCount,
    ],
    queryFn: ({ signal }) => call(getCampaignStats, { projectId, params: { id: campaign.id }, signal }),
    placeholderData: (before) => before,
    refetchInterval: LOOK_EVERY_MS,
  });
  return (
    <div className="flex max-w-5xl flex-col gap-6">
      <UnderWay projectId={projectId} campaign={campaign} />
      <PausedDestinations projectId={projectId} campaign={campaign} />
      <Leftovers projectId={projectId} campaign={campaign} />
      {stats.isPending && <Skeleton className="h-24" />}
      {stats.isError && <Failure error={stats.error} onRetry={() => void stats.refetch()} />}
      {stats.data !== undefined && (
        <>
          <Numbers stats={stats.data} />
          <Links links={stats.data.links} />
        </>
      )}
      <Recipients projectId={projectId} campaignId={campaign.id} />
    </div>
  );
}

function UnderWay({ projectId, campaign }: ReportProps) {
  const given = { projectId, params: { id: campaign.id } };
  const pausing = useVerb(projectId, () => call(pauseCampaign, given), t("Paused"));
  const resuming = useVerb(projectId, () => call(resumeCampaign, given), t("It goes on"));
  const cancelling = useVerb(projectId, () => call(cancelCampaign, given), t("Cancelled"));
  const { status, totalRecipients, pendingCount, startedAt, sentAt } = campaign;
  const done = totalRecipients - pendingCount;
  if (status === "SENT" || (status === "CANCELLED" && pendingCount === 0))
    return (
      <p className="text-sm text-soft">
        {startedAt !== null && t("Began {when}", { when: formatInstant(startedAt) })}
        {sentAt !== null && ` · ${t("ended {when}", { when: formatInstant(sentAt) })}`}
      </p>
    );
  return (
    <Card className="p-5">
      <Progress
        label={status === "PAUSED" ? t("Paused") : t("On its way")}
        share={totalRecipients === 0 ? 0 : done / totalRecipients}
        text={t("{done} of {total}", { done: formatNumber(done), total: formatNumber(totalRecipients) })}
      />
      {campaign.heldReason !== null && <p className="mt-3 text-sm text-warn">{campaign.heldReason}</p>}
      <div className="mt-4 flex gap-2">
        {status === "SENDING" && (
          <Button busy={pausing.isPending} onClick={() => pausing.mutate()}>
            {t("Pause")}
          </Button>
        )}
        {status === "PAUSED" && (
          <Button look="primary" busy={resuming.isPending} onClick={() => resuming.mutate()}>
            {t("Resume")}
          </Button>
        )}
        {status !== "CANCELLED" && (
          <Button look="quiet" busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
            {t("Cancel the rest")}
          </Button>
        )}
      </div>
    </Card>
  );
}

function PausedDestinations({ projectId, campaign }: ReportProps) {
  const releasing = useVerb(
    projectId,
    (destination: string) =>
      call(releaseCampaign, { projectId, params: { id: campaign.id }, body: { destination } }),
    t("It goes on there"),
  );
  return campaign.pausedDestinations.map(({ destination, answer, whatToDo, nextTryAt }) => (
    <Card key={destination} className="bg-warn-wash p-5">
      <h2 className="font-semibold text-warn">{t("Waiting for {destination}", { destination })}</h2>
      <p className="mt-1 font-mono text-xs wrap-anywhere">{answer}</p>
      <p className="mt-2 text-sm text-soft">{whatToDo}</p>
      <p className="text-sm text-soft">{t("A few try again {when}.", { when: formatInstant(nextTryAt) })}</p>
      <Button className="mt-3" busy={releasing.isPending} onClick={() => releasing.mutate(destination)}>
        {t("Go on now")}
      </Button>
    </Card>
  ));
}

/** What a person may still do about those who got nothing for certain. */
function Leftovers({ projectId, campaign }: ReportProps) {
  const given = { projectId, params: { id: campaign.id } };
  const retrying = useVerb(projectId, () => call(retryFailedCampaign, given), t("They are tried again"));
  const resolving = useVerb(
    projectId,
    (as: "sent" | "failed" | "retry") => call(resolveCampaign, { ...given, body: { as } }),
    t("Noted"),
  );
  const { failedCount, unconfirmedCount, status } = campaign;
  const mayRetry = failedCount > 0 && status === "SENT";
  if (!mayRetry && unconfirmedCount === 0) return null;
  return (
    <Card className="flex flex-col gap-4 p-5">
      {mayRetry && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p>{plural(failedCount, "{n} recipient failed.", "{n} recipients failed.")}</p>
          <Button busy={retrying.isPending} onClick={() => retrying.mutate()}>
            {t("Send to them again")}
          </Button>
        </div>
      )}
      {unconfirmedCount > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-120">
            {plural(
              unconfirmedCount,
              "{n} mail was handed over without an answer: nobody knows whether it was taken.",
              "{n} mails were handed over without an answer: nobody knows whether they were taken.",
            )}
          </p>
          <div className="flex gap-2">
            <Button disabled={resolving.isPending} onClick={() => resolving.mutate("sent")}>
              {t("They arrived")}
            </Button>
            <Button disabled={resolving.isPending} onClick={() => resolving.mutate("failed")}>
              {t("They did not")}
            </Button>
            <Button disabled={resolving.isPending} onClick={() => resolving.mutate("retry")}>
              {t("Send again")}
            </Button>
          </div>
        </div>
      )}
    </Card>
  );
}

function Numbers({ stats }: { stats: Stats }) {
  return (
    <div>
      <Tiles
        tiles={[
          {
            label: t("Sent"),
            value: formatNumber(stats.sentCount),
            note: t("of {total}", { total: formatNumber(stats.totalRecipients) }),
          },
          {
            label: t("Delivered"),
            value: formatPercent(stats.deliveryRate),
            note: formatNumber(stats.deliveredCount),
          },
          { label: t("Opened"), value: formatPercent(stats.openRate), note: formatNumber(stats.openedCount) },
          {
            label: t("Clicked"),
            value: formatPercent(stats.clickRate),
            note: formatNumber(stats.clickedCount),
          },
          {
            label: t("Bounced"),
            value: formatPercent(stats.bounceRate),
            note: formatNumber(stats.bouncedCount),
          },
          {
            label: t("Unsubscribed"),
            value: formatPercent(stats.unsubscribeRate),
            note: formatNumber(stats.unsubscribedCount),
          },
          {
            label: t("Reported as spam"),
            value: formatPercent(stats.complaintRate),
            note: formatNumber(stats.complainedCount),
          },
        ]}
      />
      <p className="mt-2 text-xs text-faint">
        {t(
          "Opens by machines that load every picture, such as Apple's, are not counted where they can be told apart.",
        )}
      </p>
    </div>
  );
}

type Followed = Stats["links"][number];
const LINKS: Array<Column<Followed>> = [
  { key: "url", head: t("Link"), cell: ({ url }) => <bdi title={url}>{url}</bdi> },
  {
    key: "unique",
    head: t("Recipients"),
    width: "w-28",
    align: "end",
    cell: ({ uniqueClicks }) => formatNumber(uniqueClicks),
  },
  {
    key: "clicks",
    head: t("Clicks"),
    width: "w-24",
    align: "end",
    cell: ({ clicks }) => formatNumber(clicks),
  },
  {
    key: "machines",
    head: t("By machines"),
    width: "w-32",
    align: "end",
    cell: ({ machineClicks }) => <span className="text-faint">{formatNumber(machineClicks)}</span>,
  },
];

function Links({ links }: { links: readonly Followed[] }) {
  if (links.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">{t("Links")}</h2>
      <Card className="overflow-hidden">
        <Table label={t("Links")} columns={LINKS} rows={links} rowKey={({ url }) => url} />
      </Card>
    </section>
  );
}

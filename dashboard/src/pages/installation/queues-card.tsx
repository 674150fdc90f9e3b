// Shows what waits in each queue and why, and the domains that are throttled.
import type { QueueReason } from "@postloft/contract/installation.ts";
import { INSTALLATION_COUNTED } from "@postloft/contract/installation.ts";
import { t } from "../../text/t.ts";
import { formatAgo, formatNumber } from "../../ui/format.ts";
import { Badge, type Tone } from "../../ui/page.tsx";
import type { Column } from "../../ui/table.tsx";
import { KINDS } from "../reports/names.ts";
import type { Installation, Queue, ThrottledDomain } from "./installation-query.ts";
import { TableCard } from "./part-card.tsx";

const REASONS: Record<QueueReason, readonly [Tone, string]> = {
  PROJECT_DISABLED: ["bad", t("Project suspended")],
  PROJECT_CLOSED: ["bad", t("Project on hold")],
  CAMPAIGN_PAUSED: ["neutral", t("Campaign paused")],
  CAMPAIGN_CLOSED: ["neutral", t("Campaign canceled")],
  HELD: ["warn", t("On hold")],
  DOMAIN_THROTTLED: ["warn", t("Domain throttled")],
  RETRY: ["warn", t("Waiting for a retry")],
  LATER: ["neutral", t("Due later")],
  NO_PROCESS: ["bad", t("No process sends")],
  TRANSPORT_OUTAGE: ["bad", t("Transport out of service")],
  SENDING_RATE: ["neutral", t("Limited by sending rate")],
};

/** Returns a count, with a plus sign if the server stopped counting. */
export function upTo(count: number): string {
  return count >= INSTALLATION_COUNTED ? `${formatNumber(INSTALLATION_COUNTED)}+` : formatNumber(count);
}

function Reason({ reason }: { reason: QueueReason | null }) {
  const [tone, text] = reason === null ? (["good", t("Sending")] as const) : REASONS[reason];
  return <Badge tone={tone}>{text}</Badge>;
}

const QUEUE_COLUMNS: ReadonlyArray<Column<Queue>> = [
  {
    key: "project",
    head: t("Project"),
    cell: ({ project, campaign }) => (
      <bdi title={campaign?.name ?? project?.name}>
        {[project?.name ?? t("Platform email"), ...(campaign === null ? [] : [campaign.name])].join(" · ")}
      </bdi>
    ),
  },
  { key: "kind", head: t("Kind"), width: "w-36", cell: ({ kind }) => KINDS[kind] ?? kind },
  { key: "waiting", head: t("Waiting"), width: "w-28", align: "end", cell: ({ waiting }) => upTo(waiting) },
  { key: "due", head: t("Due now"), width: "w-28", align: "end", cell: ({ due }) => upTo(due) },
  {
    key: "oldest",
    head: t("Oldest"),
    width: "w-44",
    cell: ({ oldestDueAt }) => (oldestDueAt === null ? "–" : formatAgo(oldestDueAt)),
  },
  { key: "reason", head: t("State"), width: "w-52", cell: ({ reason }) => <Reason reason={reason} /> },
];

const DOMAIN_COLUMNS: ReadonlyArray<Column<ThrottledDomain>> = [
  { key: "domain", head: t("Domain"), width: "w-48", cell: ({ destination }) => destination },
  { key: "project", head: t("Project"), width: "w-48", cell: ({ project }) => <bdi>{project.name}</bdi> },
  { key: "reply", head: t("Reply"), cell: ({ reply }) => <span title={reply}>{reply}</span> },
  { key: "next", head: t("Next try"), width: "w-44", cell: ({ nextTryAt }) => formatAgo(nextTryAt) },
];

export function QueuesCard({ queues }: { queues: Installation["queues"] }) {
  return (
    <TableCard
      title={t("Waiting email")}
      about={t("By project and kind, the oldest first.")}
      columns={QUEUE_COLUMNS}
      rows={queues}
      rowKey={({ project, kind, campaign }) => `${project?.id} ${kind} ${campaign?.id}`}
      empty={t("No email is waiting.")}
    />
  );
}

export function ThrottledDomainsCard({ domains }: { domains: Installation["throttledDomains"] }) {
  return (
    <TableCard
      title={t("Throttled domains")}
      columns={DOMAIN_COLUMNS}
      rows={domains}
      rowKey={({ project, campaignId, destination }) => `${project.id} ${campaignId} ${destination}`}
      empty={t("No domain is throttled.")}
    />
  );
}

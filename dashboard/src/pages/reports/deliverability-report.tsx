// Shows how mailbox providers rate the email, with advice, and who sends as each domain.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { formatAgo, formatDate, formatNumber, formatShare } from "../../ui/format.ts";
import { Badge, Card, type Tone } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { dnsAdviceText } from "../domains/dns-advice-text.ts";
import { AdviceList } from "./advice-list.tsx";
import { adviceText } from "./advice-text.ts";
import { daysIn, lastDays, type Period } from "./period.ts";
import { ProviderReputation } from "./provider-reputation.tsx";
import { RecordHistory } from "./record-history.tsx";

const MOST_DAYS = 180;
const GOOD_SHARE = 0.98;
const FAIR_SHARE = 0.9;

type Room = ApiResponse<typeof api.deliverability.get>;
type Domain = Room["domains"][number];
type Source = Domain["dmarc"]["sources"][number];

export function DeliverabilityReport({ projectId, period }: { projectId: string; period: Period }) {
  // The API reads the days until today.
  const days = daysIn({ startDate: period.startDate, endDate: lastDays(1).endDate });
  const asked = { days: String(Math.max(1, Math.min(days, MOST_DAYS))) };
  const room = useQuery(query(api.deliverability.get, { projectId, query: asked }));
  if (room.isError) return <Failure error={room.error} onRetry={() => void room.refetch()} />;
  if (room.data === undefined) return <Skeleton className="h-80" />;
  const { domains, providers, reportAddress } = room.data;
  return (
    <>
      {days > MOST_DAYS && (
        <p className="text-sm text-soft">
          {t("Last {days} days. We don't keep older receiver reports.", { days: MOST_DAYS })}
        </p>
      )}
      {days <= MOST_DAYS && period.endDate !== lastDays(1).endDate && (
        <p className="text-sm text-soft">
          {t("From {date} until today.", { date: formatDate(period.startDate) })}
        </p>
      )}
      <p className="text-sm text-soft">
        {reportAddress === null
          ? t("Receivers can send reports here once your instance admin sets INBOUND_DOMAIN.")
          : t("Receivers report to {address} once a day. Anyone can send a report, so check unusual ones.", {
              address: reportAddress,
            })}
      </p>
      {domains.length === 0 && (
        <Card>
          <Empty title={t("No domains yet")}>
            <Link to="/$projectId/domains" params={{ projectId }} className="text-accent hover:underline">
              {t("Add the domain you send from.")}
            </Link>
          </Empty>
        </Card>
      )}
      {domains.map((domain) => (
        <DomainCard key={domain.domain} domain={domain} />
      ))}
      <ProviderReputation projectId={projectId} providers={providers} />
    </>
  );
}

function toneOf(share: number): Tone {
  if (share >= GOOD_SHARE) return "good";
  return share >= FAIR_SHARE ? "warn" : "bad";
}

function DomainCard({ domain: { domain, dmarc, tls, advice, records } }: { domain: Domain }) {
  const share = dmarc.messages === 0 ? null : dmarc.aligned / dmarc.messages;
  return (
    <Card>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-5 py-3">
        <h2 className="font-semibold">
          <bdi>{domain}</bdi>
        </h2>
        {share !== null && (
          <Badge tone={toneOf(share)}>{t("{share} aligned", { share: formatShare(share) })}</Badge>
        )}
        <p className="ml-auto text-sm text-faint">
          {dmarc.lastReportAt === null
            ? t("No reports yet")
            : t("Last report {when}", { when: formatAgo(dmarc.lastReportAt) })}
        </p>
      </header>
      <div className="flex flex-col gap-4 p-5">
        <AdviceList
          sentences={[
            ...records.flatMap(({ adviceParts }) =>
              adviceParts.length === 0 ? [] : dnsAdviceText(adviceParts),
            ),
            ...advice.map((one) => adviceText(one)),
          ]}
        />
        <dl className="flex flex-wrap gap-x-8 gap-y-3 text-sm">
          <Fact label={t("Messages reported")} value={formatNumber(dmarc.messages)} />
          <Fact label={t("Policy")} value={dmarc.policy ?? "–"} />
          <Fact label={t("Quarantined")} value={formatNumber(dmarc.quarantined)} />
          <Fact label={t("Rejected")} value={formatNumber(dmarc.rejected)} />
          <Fact
            label={t("Reported by")}
            value={dmarc.reporters.map(({ reporter }) => reporter).join(", ") || "–"}
          />
          <Fact
            label={t("TLS failures")}
            value={
              tls.reports === 0
                ? "–"
                : plural(
                    tls.successes + tls.failures,
                    "{failed} of {n} session",
                    "{failed} of {n} sessions",
                    { failed: formatNumber(tls.failures) },
                  )
            }
          />
        </dl>
        {dmarc.sources.length > 0 && (
          <Table
            label={t("Sources of emails from {domain}", { domain })}
            columns={COLUMNS}
            rows={dmarc.sources}
            rowKey={({ ip }) => ip}
          />
        )}
        <RecordHistory records={records} />
      </div>
    </Card>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt className="text-faint">{label}</dt>
      <dd className="font-medium tabular-nums">
        <bdi>{value}</bdi>
      </dd>
    </div>
  );
}

const COLUMNS: Column<Source>[] = [
  {
    key: "ip",
    head: t("Sending IP"),
    cell: ({ ip }) => <code className="font-mono text-xs">{ip}</code>,
  },
  {
    key: "signers",
    head: t("Signed by"),
    cell: ({ signers }) => <bdi>{signers.join(", ") || "–"}</bdi>,
  },
  {
    key: "messages",
    head: t("Messages"),
    width: "w-28",
    align: "end",
    cell: ({ messages }) => formatNumber(messages),
  },
  {
    key: "aligned",
    head: t("Aligned"),
    width: "w-28",
    align: "end",
    cell: ({ messages, aligned }) => (
      <Badge tone={toneOf(aligned / messages)}>{formatShare(aligned / messages)}</Badge>
    ),
  },
];

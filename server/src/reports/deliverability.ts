// Reports how receivers treat the emails of a project, with advice.
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { DomainView } from "../domains/present-domain.ts";
import { readKeptFrom } from "../events/retention.ts";
import { getBreakdown, emptyRowOf } from "./analytics.ts";
import {
  adviceOnDomain,
  adviceOnProvider,
  type DomainStats,
  type TlsStats,
} from "./deliverability-advice.ts";
import {
  countCauses,
  countDmarcReports,
  countDeferredAndBlocked,
  listRecordChanges,
  listSources,
  sumByReporter,
  sumDmarc,
  sumTls,
} from "./deliverability-queries.ts";
import { readPeriod, spanOf, type Period } from "./period.ts";

const DAY_MS = 86_400_000;
const MAX_CAUSES = 5;

/** Returns the whole days (UTC) to report, from today back, but none before `keptFrom`. */
function daysBack(days: number, keptFrom: Date): Period {
  const at = now();
  const firstMs = Math.max(at.getTime() - days * DAY_MS, keptFrom.getTime());
  return readPeriod({ startDate: new Date(firstMs).toISOString().slice(0, 10) }, at);
}

/** Returns the report. `reportAddress` is the address that receives reports, or null. */
export async function getDeliverability(
  database: Database,
  projectId: string,
  input: { domains: readonly DomainView[]; reportAddress: string | null; days: number },
) {
  const { domains, reportAddress, days } = input;
  const since = spanOf(daysBack(days, new Date(0))).from;
  const [counted, reporters, sums, sources, tls, changes, providers] = await Promise.all([
    countDmarcReports(database, projectId, since),
    sumByReporter(database, projectId, since),
    sumDmarc(database, projectId, since),
    listSources(database, projectId, since),
    sumTls(database, projectId, since),
    listRecordChanges(database, projectId),
    reportProviders(database, projectId, days),
  ]);
  const shown = domains.map(({ domain, verified, records }) => {
    const of = <Row extends { domain: string }>(rows: readonly Row[]) =>
      rows.filter((row) => row.domain === domain);
    const [count] = of(counted);
    const [sum] = of(sums);
    const dmarc: DomainStats = {
      reports: count?.reports ?? 0,
      lastReportAt: count?.lastAt.toISOString() ?? null,
      policy: count?.policy ?? null,
      messages: sum?.messages ?? 0,
      aligned: sum?.aligned ?? 0,
      quarantined: sum?.quarantined ?? 0,
      rejected: sum?.rejected ?? 0,
      reporters: of(reporters).map(({ reporter, messages }) => ({ reporter, messages })),
      sources: of(sources).map(({ ip, messages, aligned, signers }) => ({ ip, messages, aligned, signers })),
    };
    const [sessions] = of(tls);
    const tlsView: TlsStats = {
      reports: sessions?.reports ?? 0,
      successes: sessions?.successes ?? 0,
      failures: sessions?.failures ?? 0,
      causes: causesOf(sessions?.details ?? []),
    };
    return {
      domain,
      verified,
      records: records.map(({ purpose, name, status, advice, adviceParts }) => ({
        purpose,
        name,
        status,
        advice,
        adviceParts: [...adviceParts],
        history: of(changes)
          .filter((change) => change.purpose === purpose && change.name === name)
          .map((change) => ({
            since: change.changedAt.toISOString(),
            status: change.status,
            found: change.found,
          })),
      })),
      dmarc,
      tls: tlsView,
      advice: adviceOnDomain({ domain, dmarc, tls: tlsView, reportAddress, record: dmarcOf(records) }),
    };
  });
  return { days, reportAddress, domains: shown, providers };
}

async function reportProviders(database: Database, projectId: string, days: number) {
  // Causes are counted from events by campaign, so without those events the totals would exceed their causes.
  const period = daysBack(days, await readKeptFrom(database, projectId));
  const [counts, rejections, causes] = await Promise.all([
    getBreakdown(database, projectId, "provider", period),
    countDeferredAndBlocked(database, projectId, spanOf(period)),
    countCauses(database, projectId, spanOf(period)),
  ]);
  // A provider that rejects everything has no sent email.
  const others = rejections.filter(({ provider }) => !counts.some(({ value }) => value === provider));
  return [...counts, ...others.map(({ provider }) => emptyRowOf(provider))].map((row) => {
    const { deferred = 0, blocked = 0 } = rejections.find(({ provider }) => provider === row.value) ?? {};
    return withCauses({ ...row, deferred, blocked }, causes);
  });
}

/** Adds the campaigns that caused most bounces and complaints of a provider, largest first. */
function withCauses<Row extends Parameters<typeof adviceOnProvider>[0]>(
  row: Row,
  causes: Awaited<ReturnType<typeof countCauses>>,
) {
  const campaigns = causes
    .filter(({ provider }) => provider === row.value)
    .map(({ provider: _provider, ...cause }) => cause);
  return {
    ...row,
    campaigns: campaigns.slice(0, MAX_CAUSES),
    advice: adviceOnProvider(row, campaigns),
  };
}

const dmarcOf = (records: DomainView["records"]) =>
  records.find(({ purpose }) => purpose === "dmarc")?.found ?? null;

function causesOf(details: ReadonlyArray<ReadonlyArray<{ result: string; count: number }>>) {
  const counts = new Map<string, number>();
  for (const { result, count } of details.flat()) counts.set(result, (counts.get(result) ?? 0) + count);
  return [...counts]
    .map(([result, count]) => ({ result, count }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, MAX_CAUSES);
}

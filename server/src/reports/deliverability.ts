// How the mail of a project is judged where it arrives, and what to do about it in a sentence.
// Before it: domains/ keeps what receivers report, analytics.ts counts by provider. After it: deliverability-routes.ts.
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";
import type { DomainView } from "../domains/present-domain.ts";
import { getBreakdown } from "./analytics.ts";
import { countDmarcReports, listSources, sumByReporter, sumDmarc, sumTls } from "./deliverability-queries.ts";
import { readPeriod } from "./period.ts";

const DAY_MS = 86_400_000;
const MAX_CAUSES = 5;
/** From here on a stricter policy hurts nobody who is meant to send. */
const READY_SHARE = 0.98;
const READY_MESSAGES = 100;
/** Below, somebody who is meant to send may be among what does not fit. */
const LOW_SHARE = 0.9;
const TLS_FAILURES_SHARE = 0.01;

export interface DomainJudgement {
  reports: number;
  lastReportAt: string | null;
  policy: string | null;
  messages: number;
  aligned: number;
  quarantined: number;
  rejected: number;
  reporters: Array<{ reporter: string; messages: number }>;
  sources: Array<{ ip: string; messages: number; aligned: number; signers: string[] }>;
}

interface TlsJudgement {
  reports: number;
  successes: number;
  failures: number;
  causes: Array<{ result: string; count: number }>;
}

/** `reportAddress`: where reports are taken; null: nowhere. */
export async function getDeliverability(
  database: Database,
  projectId: string,
  given: { domains: readonly DomainView[]; reportAddress: string | null; days: number },
) {
  const { domains, reportAddress, days } = given;
  const since = new Date(now().getTime() - days * DAY_MS);
  const startDate = since.toISOString().slice(0, 10);
  const [counted, reporters, sums, sources, tls, providers] = await Promise.all([
    countDmarcReports(database, projectId, since),
    sumByReporter(database, projectId, since),
    sumDmarc(database, projectId, since),
    listSources(database, projectId, since),
    sumTls(database, projectId, since),
    getBreakdown(database, projectId, "provider", readPeriod({ startDate }, now())),
  ]);
  const shown = domains.map(({ domain, verified, records }) => {
    const of = <Row extends { domain: string }>(rows: readonly Row[]) =>
      rows.filter((row) => row.domain === domain);
    const [count] = of(counted);
    const [sum] = of(sums);
    const dmarc: DomainJudgement = {
      reports: count?.reports ?? 0,
      lastReportAt: count?.last_at.toISOString() ?? null,
      policy: count?.policy ?? null,
      messages: sum?.messages ?? 0,
      aligned: sum?.aligned ?? 0,
      quarantined: sum?.quarantined ?? 0,
      rejected: sum?.rejected ?? 0,
      reporters: of(reporters).map(({ reporter, messages }) => ({ reporter, messages })),
      sources: of(sources).map(({ ip, messages, aligned, signers }) => ({ ip, messages, aligned, signers })),
    };
    const [sessions] = of(tls);
    const tlsView: TlsJudgement = {
      reports: sessions?.reports ?? 0,
      successes: sessions?.successes ?? 0,
      failures: sessions?.failures ?? 0,
      causes: causesOf(sessions?.details ?? []),
    };
    return {
      domain,
      verified,
      records: records.map(({ purpose, status, advice }) => ({ purpose, status, advice })),
      dmarc,
      tls: tlsView,
      advice: adviceOn({ domain, dmarc, tls: tlsView, reportAddress, record: dmarcOf(records) }),
    };
  });
  return { days, reportAddress, domains: shown, providers };
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

const percent = (share: number) => `${(share * 100).toFixed(share > 0.99 ? 1 : 0)} %`;

/** What to do next, the most pressing first; nothing when all is well. Pure. */
export function adviceOn(given: {
  domain: string;
  dmarc: DomainJudgement;
  tls: TlsJudgement;
  reportAddress: string | null;
  /** The DMARC record that was found. */
  record: string | null;
}): string[] {
  const { domain, dmarc, tls, reportAddress, record } = given;
  const advice: string[] = [];
  const share = dmarc.messages === 0 ? 1 : dmarc.aligned / dmarc.messages;
  const [worst] = dmarc.sources.filter(({ messages, aligned }) => aligned < messages);
  if (worst !== undefined && share < READY_SHARE) {
    const signed = worst.signers.length === 0 ? "unsigned" : `signed by ${worst.signers.join(", ")}`;
    advice.push(
      `${percent(1 - share)} of the mail as ${domain} did not fit it, most of it from ${worst.ip} (${signed}). If that is a service of yours, let it sign as ${domain}; if not, a stricter policy keeps it out.`,
    );
  }
  if (dmarc.policy === "none" && dmarc.messages >= READY_MESSAGES && share >= READY_SHARE)
    advice.push(
      `${percent(share)} of ${dmarc.messages.toLocaleString("en")} messages fit ${domain}: \`p=quarantine\` would keep out who sends as you, and hurt none of yours.`,
    );
  if ((dmarc.policy === "quarantine" || dmarc.policy === "reject") && share < LOW_SHARE)
    advice.push(
      `Receivers act on \`p=${dmarc.policy}\`, and ${percent(1 - share)} of the mail does not fit: what is yours among it is lost now.`,
    );
  const sessions = tls.successes + tls.failures;
  if (sessions > 0 && tls.failures / sessions > TLS_FAILURES_SHARE)
    advice.push(
      `${percent(tls.failures / sessions)} of the sessions to the mail servers of ${domain} failed at TLS (${tls.causes.map(({ result }) => result).join(", ")}): look at their certificates and at the MTA-STS policy.`,
    );
  if (dmarc.reports === 0 && reportAddress !== null && record?.includes(reportAddress) !== true)
    advice.push(
      `No receiver reports of ${domain} here. Add \`rua=mailto:${reportAddress}\` to its DMARC record; reports then come once a day.`,
    );
  return advice;
}

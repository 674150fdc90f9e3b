// Stores receivers' reports about sender domains for the project with the verified domain (docs/decisions/0060-domain-reports.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import {
  deleteOldReports,
  findOwners,
  hasRoomForReport,
  insertDmarcReport,
  insertTlsReport,
} from "./queries.ts";
import type { DmarcReport, DomainReport, TlsReport } from "./report.ts";

/** Local parts at INBOUND_DOMAIN that accept reports. */
const REPORT_NAMES: readonly string[] = ["dmarc", "tlsrpt"];

export function isReportName(localPart: string): boolean {
  return REPORT_NAMES.includes(localPart.toLowerCase());
}

type Kept = "new" | "known" | "over the limit of its domain";

/** Stores a report and returns the result in a few words. */
export async function keepDomainReport(tx: Tx, report: DomainReport): Promise<string> {
  const kept = report.kind === "dmarc" ? await keepDmarc(tx, report) : await keepTls(tx, report);
  if (kept.length === 0) return `${report.kind} report: of no domain here`;
  if (kept.includes("new")) return `${report.kind} report`;
  return `${report.kind} report: ${kept[0]}`;
}

/** Inserts a report if its domain is within the daily limit. */
async function keepWithin(
  tx: Tx,
  kind: DomainReport["kind"],
  owner: { projectId: string; domain: string },
  insert: () => Promise<boolean>,
): Promise<Kept> {
  if (!(await hasRoomForReport(tx, kind, owner))) return "over the limit of its domain";
  return (await insert()) ? "new" : "known";
}

/** Assigns each project the sources of its own domain, because the policy may belong to a parent domain (RFC 9989 §4.10). */
async function keepDmarc(tx: Tx, report: DmarcReport): Promise<Kept[]> {
  const senderOf = (headerFrom: string) => (headerFrom === "" ? report.domain : headerFrom);
  const domains = new Set([report.domain, ...report.sources.map(({ headerFrom }) => senderOf(headerFrom))]);
  const kept: Kept[] = [];
  for (const { projectId, domain } of await findOwners(tx, [...domains])) {
    const own = report.sources.filter(({ headerFrom }) => senderOf(headerFrom) === domain);
    if (own.length === 0 && domain !== report.domain) continue;
    const { reporter, reportId, begin, end, policy } = report;
    const row = { projectId, id: newId(), domain, reporter, reportId, begin, end, policy };
    kept.push(await keepWithin(tx, "dmarc", row, () => insertDmarcReport(tx, row, own)));
  }
  return kept;
}

async function keepTls(tx: Tx, report: TlsReport): Promise<Kept[]> {
  const { reporter, reportId, begin, end } = report;
  const kept: Kept[] = [];
  const owners = await findOwners(tx, [...new Set(report.policies.map(({ domain }) => domain))]);
  for (const { projectId, domain } of owners) {
    const own = report.policies.filter((policy) => policy.domain === domain);
    const sum = (count: (policy: (typeof own)[number]) => number) =>
      own.reduce((total, policy) => total + count(policy), 0);
    const row = {
      projectId,
      id: newId(),
      domain,
      reporter,
      reportId,
      begin,
      end,
      successes: sum(({ successes }) => successes),
      failures: sum(({ failures }) => failures),
      details: own.flatMap(({ details }) => details).toSorted((one, other) => other.count - one.count),
    };
    kept.push(await keepWithin(tx, "tls", row, () => insertTlsReport(tx, row)));
  }
  return kept;
}

export async function sweepDomainReports(database: Database): Promise<void> {
  await deleteOldReports(database, LIMITS.domainReportDays.value);
}

// Statements on `dmarc_reports`, `dmarc_sources` and `tls_reports`.
import { sql } from "kysely";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";

/** Returns the verified domains among these, with their projects. */
export async function findOwners(database: Database, domains: readonly string[]) {
  return database
    .selectFrom("domains")
    .select(["projectId", "domain"])
    .where("status", "=", "VERIFIED")
    .where("domain", "in", [...domains])
    .execute();
}

export interface NewDmarcReport extends Row<
  "dmarc_reports",
  "projectId" | "id" | "domain" | "reporter" | "reportId" | "policy"
> {
  begin: Date;
  end: Date;
}

export interface NewDmarcSource extends Row<
  "dmarc_sources",
  "messages" | "disposition" | "dkim" | "spf" | "signers"
> {
  ip: string;
}

/** Matches while a domain is below its daily limit of reports, because anyone can send reports. */
export async function hasRoomForReport(
  database: Database,
  kind: "dmarc" | "tls",
  { projectId, domain }: { projectId: string; domain: string },
): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select count(*) < ${LIMITS.domainReportsADay.value} as has from ${sql.table(kind === "dmarc" ? "dmarc_reports" : "tls_reports")}
    where project_id = ${projectId} and domain = ${domain} and received_at > now() - interval '1 day'`.execute(
    database,
  );
  return rows[0]?.has === true;
}

/** Stores a report with its sources. Returns false if it exists already. */
export async function insertDmarcReport(
  tx: Tx,
  report: NewDmarcReport,
  sources: readonly NewDmarcSource[],
): Promise<boolean> {
  const { projectId, id, domain, reporter, reportId, begin, end, policy } = report;
  const { numAffectedRows } = await sql`
    insert into dmarc_reports (project_id, id, domain, reporter, report_id, begins_at, ends_at, policy)
    values (${projectId}, ${id}, ${domain}, ${reporter}, ${reportId}, ${begin}, ${end}, ${policy})
    on conflict (project_id, domain, reporter, report_id) do nothing`.execute(tx);
  if (numAffectedRows !== 1n) return false;
  await sql`
    insert into dmarc_sources (project_id, report_id, position, source_ip, messages, disposition, dkim, spf, signers)
    select ${projectId}::uuid, ${id}::uuid, position, ip, messages, disposition, dkim, spf,
           array(select jsonb_array_elements_text(signers))
    from jsonb_to_recordset(${JSON.stringify(sources.map((source, position) => ({ position, ...source })))}::jsonb)
      as s (position smallint, ip text, messages bigint, disposition text, dkim boolean, spf boolean, signers jsonb)`.execute(
    tx,
  );
  return true;
}

export interface NewTlsReport extends Omit<NewDmarcReport, "policy"> {
  successes: number;
  failures: number;
  details: unknown;
}

/** Returns false if the report exists already. */
export async function insertTlsReport(tx: Tx, report: NewTlsReport): Promise<boolean> {
  const { projectId, id, domain, reporter, reportId, begin, end, successes, failures, details } = report;
  const { numAffectedRows } = await sql`
    insert into tls_reports (project_id, id, domain, reporter, report_id, begins_at, ends_at, successes, failures, details)
    values (${projectId}, ${id}, ${domain}, ${reporter}, ${reportId}, ${begin}, ${end}, ${successes}, ${failures},
            ${JSON.stringify(details)}::jsonb)
    on conflict (project_id, domain, reporter, report_id) do nothing`.execute(tx);
  return numAffectedRows === 1n;
}

export async function deleteOldReports(database: Database, days: number): Promise<void> {
  await sql`
    delete from dmarc_reports where received_at < now() - make_interval(days => ${days})`.execute(database);
  await sql`
    delete from tls_reports where received_at < now() - make_interval(days => ${days})`.execute(database);
}

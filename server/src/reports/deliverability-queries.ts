// Statements on what receivers reported of sender domains (domains/reports/ writes it).
// Before it: deliverability.ts. After it: nothing.
import { sql } from "kysely";
import type { Database } from "../platform/database.ts";

const MAX_REPORTERS = 10;
const MAX_SOURCES = 20;

/** Reports of each domain: how many, the last one, and the policy that it found. */
export async function countDmarcReports(database: Database, projectId: string, since: Date) {
  const { rows } = await sql<{
    domain: string;
    reports: number;
    last_at: Date;
    policy: string | null;
  }>`
    select domain, count(*)::int as reports, max(ends_at) as last_at,
           (array_agg(policy order by ends_at desc))[1] as policy
    from dmarc_reports where project_id = ${projectId} and ends_at >= ${since} group by domain`.execute(
    database,
  );
  return rows;
}

/** Messages of each domain by who reported them. */
export async function sumByReporter(database: Database, projectId: string, since: Date) {
  const { rows } = await sql<{ domain: string; reporter: string; messages: number }>`
    select domain, reporter, messages from (
      select r.domain, r.reporter, sum(s.messages)::float8 as messages,
             row_number() over (partition by r.domain order by sum(s.messages) desc, r.reporter) as place
      from dmarc_reports r join dmarc_sources s on s.project_id = r.project_id and s.report_id = r.id
      where r.project_id = ${projectId} and r.ends_at >= ${since} group by r.domain, r.reporter
    ) ranked where place <= ${MAX_REPORTERS} order by domain, place`.execute(database);
  return rows;
}

/** Messages of each domain, and what was done with them. */
export async function sumDmarc(database: Database, projectId: string, since: Date) {
  const { rows } = await sql<{
    domain: string;
    messages: number;
    aligned: number;
    quarantined: number;
    rejected: number;
  }>`
    select r.domain, sum(s.messages)::float8 as messages,
           coalesce(sum(s.messages) filter (where s.dkim or s.spf), 0)::float8 as aligned,
           coalesce(sum(s.messages) filter (where s.disposition = 'quarantine'), 0)::float8 as quarantined,
           coalesce(sum(s.messages) filter (where s.disposition = 'reject'), 0)::float8 as rejected
    from dmarc_reports r join dmarc_sources s on s.project_id = r.project_id and s.report_id = r.id
    where r.project_id = ${projectId} and r.ends_at >= ${since} group by r.domain`.execute(database);
  return rows;
}

/** Who sent as each domain: those with the most that did not fit first. */
export async function listSources(database: Database, projectId: string, since: Date) {
  const { rows } = await sql<{
    domain: string;
    ip: string;
    messages: number;
    aligned: number;
    signers: string[];
  }>`
    select domain, ip, messages, aligned, signers from (
      select r.domain, s.source_ip as ip, sum(s.messages)::float8 as messages,
             coalesce(sum(s.messages) filter (where s.dkim or s.spf), 0)::float8 as aligned,
             array(select jsonb_array_elements_text(
               (jsonb_agg(to_jsonb(s.signers) order by cardinality(s.signers) desc, s.messages desc))->0)) as signers,
             row_number() over (
               partition by r.domain
               order by sum(s.messages) filter (where not (s.dkim or s.spf)) desc nulls last, sum(s.messages) desc, s.source_ip
             ) as place
      from dmarc_reports r join dmarc_sources s on s.project_id = r.project_id and s.report_id = r.id
      where r.project_id = ${projectId} and r.ends_at >= ${since} group by r.domain, s.source_ip
    ) ranked where place <= ${MAX_SOURCES} order by domain, place`.execute(database);
  return rows;
}

/** Sessions of each domain; `details` holds those of all its reports. */
export async function sumTls(database: Database, projectId: string, since: Date) {
  const { rows } = await sql<{
    domain: string;
    reports: number;
    successes: number;
    failures: number;
    details: Array<Array<{ result: string; count: number }>>;
  }>`
    select domain, count(*)::int as reports, sum(successes)::float8 as successes, sum(failures)::float8 as failures,
           jsonb_agg(details) as details
    from tls_reports where project_id = ${projectId} and ends_at >= ${since} group by domain`.execute(
    database,
  );
  return rows;
}

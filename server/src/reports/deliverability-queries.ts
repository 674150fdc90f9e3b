// Queries on reports of receivers about sender domains (written by domains/reports/), on their DNS records, and on bounces and complaints.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { EMAIL_BOUNCE, EMAIL_COMPLAINT } from "@postloft/contract/event-names.ts";
import { countedProvider, joinProviders, recipientDomain } from "../emails/rows/counted-by.ts";
import { OTHER_SOURCES } from "../domains/reports/report.ts";
import type { Database } from "../platform/database/database.ts";
import type { Span } from "../events/counts.ts";

const MAX_REPORTERS = 10;
const MAX_SOURCES = 20;
const MAX_CHANGES = 10;
/** The last ones of each kind. A project with more is disabled long before. */
const MAX_CAME_BACK = 50_000;

/** Returns the number of reports of each domain, the time of the last one, and the policy in it. */
export async function countDmarcReports(database: Database, projectId: string, since: Date) {
  const { rows } = await sql<{
    domain: string;
    reports: number;
    lastAt: Date;
    policy: string | null;
  }>`
    select domain, count(*)::int as reports, max(ends_at) as last_at,
           (array_agg(policy order by ends_at desc))[1] as policy
    from dmarc_reports where project_id = ${projectId} and ends_at >= ${since} group by domain`.execute(
    database,
  );
  return rows;
}

/** Returns the messages of each domain by reporter. */
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

/** Returns the messages of each domain by result. */
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

/** Lists the sources that sent as each domain, those with most unaligned messages first. */
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
      where r.project_id = ${projectId} and r.ends_at >= ${since} and s.source_ip <> ${OTHER_SOURCES}
      group by r.domain, s.source_ip
    ) ranked where place <= ${MAX_SOURCES} order by domain, place`.execute(database);
  return rows;
}

/** Returns the sessions of each domain. `details` contains those of all its reports. */
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

/** Lists the changes of each DNS record of each domain, newest first. */
export async function listRecordChanges(database: Database, projectId: string) {
  const { rows } = await sql<{
    domain: string;
    purpose: string;
    name: string;
    changedAt: Date;
    status: string;
    found: string | null;
  }>`
    select domain, purpose, name, changed_at, status, found from (
      select d.domain, c.purpose, c.name, c.changed_at, c.status, c.found,
             row_number() over (partition by c.domain_id, c.purpose, c.name order by c.changed_at desc) as place
      from domain_record_changes c join domains d on d.project_id = c.project_id and d.id = c.domain_id
      where c.project_id = ${projectId}
    ) ranked where place <= ${MAX_CHANGES} order by domain, purpose, name, changed_at desc`.execute(database);
  return rows;
}

/**
 * Counts the emails that a provider's servers deferred at least once, and those rejected for policy, by provider. Includes only direct
 * deliveries with stored attempts, not those through a relay.
 */
export async function countDeferredAndBlocked(database: Database, projectId: string, { from, to }: Span) {
  const last = (which: RawBuilder<SqlBool>) => sql`
    (select a.email_id, a.meaning from email_attempts a
     where a.project_id = ${projectId} and ${which} and a.created_at >= ${from} and a.created_at < ${to}
     order by a.created_at desc limit ${MAX_CAME_BACK})`;
  const deferred = sql<SqlBool>`a.outcome = 'deferred' and a.meaning in ('temporary', 'throttled')`;
  const { rows } = await sql<{ provider: string; deferred: number; blocked: number }>`
    select ${countedProvider()} as provider,
           count(distinct e.id) filter (where a.meaning <> 'policy')::int as deferred,
           count(distinct e.id) filter (where a.meaning = 'policy')::int as blocked
    from (${last(deferred)} union all ${last(sql`a.meaning = 'policy'`)}) a
    join emails e on e.project_id = ${projectId} and e.id = a.email_id and e.is_test is null
    ${joinProviders(recipientDomain())}
    group by 1 order by 1`.execute(database);
  return rows;
}

/** Counts bounces and complaints by receiving provider and campaign, largest first, without test emails. */
export async function countCauses(database: Database, projectId: string, { from, to }: Span) {
  const cameBack = (name: string) => sql`
    (select v.email_id, v.name, v.data ->> 'bounceType' = 'hard' as is_hard from events v
     where v.project_id = ${projectId} and v.name = ${name} and v.created_at >= ${from} and v.created_at < ${to}
     order by v.created_at desc limit ${MAX_CAME_BACK})`;
  const { rows } = await sql<{
    provider: string;
    campaignId: string;
    name: string | null;
    bounces: number;
    softBounces: number;
    complaints: number;
  }>`
    select told.*, k.name from (
      select ${countedProvider()} as provider, e.campaign_id,
             count(*) filter (where v.name = ${EMAIL_BOUNCE} and v.is_hard)::int as bounces,
             count(*) filter (where v.name = ${EMAIL_BOUNCE} and v.is_hard is not true)::int as soft_bounces,
             count(*) filter (where v.name = ${EMAIL_COMPLAINT})::int as complaints
      from (${cameBack(EMAIL_BOUNCE)} union all ${cameBack(EMAIL_COMPLAINT)}) v
      join emails e on e.project_id = ${projectId} and e.id = v.email_id and e.campaign_id is not null and e.is_test is null
      ${joinProviders(recipientDomain())}
      group by 1, 2
    ) told
    left join campaigns k on k.project_id = ${projectId} and k.id = told.campaign_id
    order by complaints * 50 + bounces + soft_bounces desc, campaign_id`.execute(database);
  return rows;
}

// Statements on `link_domains`.
import { sql } from "kysely";
import type { LinkDomainProblem } from "@postloft/contract/link-domains.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export interface LinkDomainRow extends Row<
  "link_domains",
  | "projectId"
  | "domain"
  | "foundAlias"
  | "foundProof"
  | "leadsHere"
  | "problemDetail"
  | "failedChecks"
  | "failedAt"
  | "statusChangedAt"
  | "lastCheckedAt"
  | "createdAt"
> {
  status: "PENDING" | "VERIFIED" | "ACTIVE";
  problem: LinkDomainProblem | null;
  /** The database's clock when the row was read. */
  now: Date;
}

export interface LinkDomainCheck extends Pick<
  LinkDomainRow,
  "status" | "failedChecks" | "failedAt" | "problem" | "problemDetail"
> {
  hasChanged: boolean;
  nextCheckMs: number;
  /** What DNS returned; missing if it was not asked or did not respond. */
  found?: Partial<Pick<LinkDomainRow, "foundAlias" | "foundProof" | "leadsHere">>;
}

const COLUMNS = [
  "projectId",
  "domain",
  "status",
  "foundAlias",
  "foundProof",
  "leadsHere",
  "problem",
  "problemDetail",
  "failedChecks",
  "failedAt",
  "statusChangedAt",
  "lastCheckedAt",
  "createdAt",
] as const;

/** Returns the current domain of a project. */
export async function findLinkDomain(
  database: Database,
  projectId: string,
): Promise<LinkDomainRow | undefined> {
  const row = await database
    .selectFrom("link_domains")
    .select(COLUMNS)
    .select(sql<Date>`now()`.as("now"))
    .where("projectId", "=", projectId)
    .where("isCurrent", "=", true)
    .executeTakeFirst();
  return row as LinkDomainRow | undefined;
}

/** A domain whose host serves the links of a project. A former one and one that was lost are PENDING. */
export type ServedLinkDomain = Pick<LinkDomainRow, "projectId" | "domain" | "status">;

/** Returns the domains that were active or are verified, of all projects in order of their keys. */
export async function listServedLinkDomains(
  database: Database,
  { after, limit }: { after: Pick<LinkDomainRow, "projectId" | "domain">; limit: number },
): Promise<ServedLinkDomain[]> {
  const { rows } = await sql<ServedLinkDomain>`
    select project_id, domain, status from link_domains
    where (project_id, domain) > (${after.projectId}::uuid, ${after.domain}) and (status <> 'PENDING' or was_active)
    order by project_id, domain limit ${limit}`.execute(database);
  return rows;
}

/** Waits until no other transaction records a check of this name. */
export async function lockLinkDomainName(tx: Tx, domain: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`link domain:${domain}`}, 0))`.execute(tx);
}

/** Returns the project that has verified a domain. Undefined if none has. */
export async function findLinkDomainOwner(database: Database, domain: string): Promise<string | undefined> {
  const row = await database
    .selectFrom("link_domains")
    .select("projectId")
    .where("domain", "=", domain)
    .where("status", "<>", "PENDING")
    .executeTakeFirst();
  return row?.projectId;
}

/** Returns whether a project has verified this domain or used it in emails. */
export async function isServedDomain(database: Database, domain: string): Promise<boolean> {
  const { rows } = await sql`
    select from link_domains where domain = ${domain} and (status <> 'PENDING' or was_active) limit 1`.execute(
    database,
  );
  return rows.length > 0;
}

/** Makes a domain the current one of its project. The same domain keeps its state. Lock the project first. */
export async function upsertLinkDomain(tx: Tx, projectId: string, domain: string): Promise<void> {
  await sql`
    insert into link_domains (project_id, domain) values (${projectId}, ${domain})
    on conflict (project_id, domain) do update set
      is_current = true, status_changed_at = excluded.status_changed_at, next_check_at = excluded.next_check_at,
      created_at = excluded.created_at
    where not link_domains.is_current`.execute(tx);
}

/**
 * Ends the use of a project's current domain, unless it is `but`, and returns it. It stays as a former one if it was active.
 * Lock the project first.
 */
export async function endLinkDomain(
  tx: Tx,
  projectId: string,
  but: string | null,
): Promise<string | undefined> {
  const { rows } = await sql<{ domain: string }>`
    update link_domains set is_current = false, status = 'PENDING', found_alias = null, found_proof = null,
      leads_here = false, problem = null, problem_detail = null, failed_checks = 0, failed_at = null,
      last_checked_at = null, status_changed_at = now()
    where project_id = ${projectId} and is_current and domain is distinct from ${but}
    returning domain`.execute(tx);
  await sql`
    delete from link_domains d where d.project_id = ${projectId} and not d.is_current and (
      not d.was_active or d.domain not in (
        select f.domain from link_domains f where f.project_id = ${projectId} and not f.is_current and f.was_active
        order by f.status_changed_at desc limit ${MAX_FORMER}
      )
    )`.execute(tx);
  return rows[0]?.domain;
}
/** Former domains that a project keeps. */
const MAX_FORMER = 10;

/** Stores a check. Returns false if the domain is no longer the current one of its project. */
export async function updateLinkDomainCheck(
  tx: Tx,
  { projectId, domain }: Pick<LinkDomainRow, "projectId" | "domain">,
  check: LinkDomainCheck,
): Promise<boolean> {
  const { hasChanged, nextCheckMs, found, ...columns } = check;
  const { numUpdatedRows } = await tx
    .updateTable("link_domains")
    .set({
      ...columns,
      ...found,
      ...(check.status === "ACTIVE" ? { wasActive: true } : {}),
      lastCheckedAt: sql`now()`,
      nextCheckAt: sql`now() + make_interval(secs => ${nextCheckMs / 1000})`,
      ...(hasChanged ? { statusChangedAt: sql`now()` } : {}),
    })
    .where("projectId", "=", projectId)
    .where("domain", "=", domain)
    .where("isCurrent", "=", true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the projects whose domain is due for a check, longest waiting first. */
export async function listDueLinkDomains(database: Database, limit: number): Promise<string[]> {
  const rows = await database
    .selectFrom("link_domains")
    .select("projectId")
    .where("isCurrent", "=", true)
    .where("nextCheckAt", "<=", sql<Date>`now()`)
    .orderBy("nextCheckAt")
    .limit(limit)
    .execute();
  return rows.map(({ projectId }) => projectId);
}

/** Postpones these checks by `leaseMs` and returns those that were still due, so that each process gets different ones. */
export async function claimDueLinkDomains(
  tx: Tx,
  projectIds: readonly string[],
  leaseMs: number,
): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    update link_domains d set next_check_at = now() + make_interval(secs => ${leaseMs / 1000})
    from unnest(${projectIds}::uuid[]) as i (project_id)
    where d.project_id = i.project_id and d.is_current and d.next_check_at <= now()
    returning d.project_id`.execute(tx);
  return rows.map(({ projectId }) => projectId);
}

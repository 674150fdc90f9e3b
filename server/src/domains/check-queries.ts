// Statements of a domain check on `domains`: claiming due domains, storing results, promoting the next key.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { DomainKey, FoundRecords, Lookups } from "./queries.ts";

/** The stored result of a check. */
export interface CheckOutcome {
  status: string;
  hasChanged: boolean;
  failedChecks: number;
  failedAt: Date | null;
  dnsFound: FoundRecords;
  dnsLookups: Lookups;
  ed25519Published: boolean;
  checkProblem: string | null;
  nextCheckMs: number;
}

/** Returns domains that are due for a check, longest waiting first. */
export async function listDueDomains(database: Database, limit: number): Promise<DomainKey[]> {
  return database
    .selectFrom("domains")
    .select(["projectId as projectId", "id"])
    .where("nextCheckAt", "<=", sql<Date>`now()`)
    .orderBy("nextCheckAt")
    .limit(limit)
    .execute();
}

/**
 * Postpones these domains and returns those that were still due, so that each process gets different ones. If the process dies, they are
 * due again after `leaseMs`.
 */
export async function claimDueDomains(
  tx: Tx,
  keys: readonly DomainKey[],
  leaseMs: number,
): Promise<DomainKey[]> {
  const { rows } = await sql<DomainKey>`
    update domains d set next_check_at = now() + make_interval(secs => ${leaseMs / 1000})
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    where d.project_id = i.project_id and d.id = i.id and d.next_check_at <= now()
    returning d.project_id, d.id`.execute(tx);
  return rows;
}

export async function updateCheck(tx: Tx, { projectId, id }: DomainKey, check: CheckOutcome): Promise<void> {
  const { hasChanged, nextCheckMs, dnsFound, dnsLookups, ...columns } = check;
  await tx
    .updateTable("domains")
    .set({
      ...columns,
      dnsFound: JSON.stringify(dnsFound),
      dnsLookups: JSON.stringify(dnsLookups),
      lastCheckedAt: sql`now()`,
      nextCheckAt: sql`now() + make_interval(secs => ${nextCheckMs / 1000})`,
      ...(hasChanged ? { statusChangedAt: sql`now()`, updatedAt: sql`now()` } : {}),
    })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

/** Stores a check without DNS. While email stays on this machine, any check verifies the domain. */
export async function updateLocalCheck(tx: Tx, { projectId, id }: DomainKey): Promise<void> {
  await sql`
    with instant as materialized (select now() as at)
    update domains set
      last_checked_at = instant.at,
      ed25519_published = ed25519_selector is not null,
      updated_at = case when last_checked_at is null then instant.at else updated_at end
    from instant where project_id = ${projectId} and id = ${id}`.execute(tx);
}

/** Makes the next key the signing key. Deletes the former private key and keeps its record for `keepMs`, or not at all if null. */
export async function promoteNextKey(
  tx: Tx,
  { projectId, id }: DomainKey,
  keepMs: number | null,
): Promise<void> {
  const isKept = keepMs !== null;
  await sql`
    update domains set
      dkim_selector = second_dkim_selector,
      dkim_public_key = second_dkim_public_key,
      dkim_private_key = second_dkim_private_key,
      second_dkim_selector = ${isKept ? sql`dkim_selector` : null},
      second_dkim_public_key = ${isKept ? sql`dkim_public_key` : null},
      second_dkim_private_key = null,
      second_dkim_until = ${isKept ? sql`now() + make_interval(secs => ${keepMs / 1000})` : null},
      updated_at = now()
    where project_id = ${projectId} and id = ${id} and second_dkim_private_key is not null`.execute(tx);
}

/** Deletes the former key after it expires. */
export async function deleteFormerKey(tx: Tx, { projectId, id }: DomainKey): Promise<void> {
  await tx
    .updateTable("domains")
    .set({
      secondDkimSelector: null,
      secondDkimPublicKey: null,
      secondDkimUntil: null,
      updatedAt: sql`now()`,
    })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where("secondDkimUntil", "<=", sql<Date>`now()`)
    .execute();
}

// Statements on `domains`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database.ts";

/** Name → TXT records as DNS gave them; a name that nobody answered for is missing. */
export type FoundRecords = Readonly<Record<string, readonly string[]>>;

export interface DomainRow {
  project_id: string;
  id: string;
  domain: string;
  status: string;
  dkim_selector: string;
  dkim_public_key: string;
  second_dkim_selector: string | null;
  second_dkim_public_key: string | null;
  /** Set while the second key is the former one; null while it is the next one. */
  second_dkim_until: Date | null;
  ed25519_selector: string | null;
  ed25519_public_key: string | null;
  /** Whether the last check found it: then it signs. */
  ed25519_published: boolean;
  dns_found: FoundRecords;
  check_problem: string | null;
  failed_checks: number;
  failed_at: Date | null;
  status_changed_at: Date;
  last_checked_at: Date | null;
  created_at: Date;
  updated_at: Date;
  /** The database's clock when the row was read. */
  now: Date;
}

export interface DomainKey {
  projectId: string;
  id: string;
}

export interface SealedDkimKey {
  selector: string;
  publicKey: string;
  sealedPrivateKey: Buffer;
}

const COLUMNS = [
  "project_id",
  "id",
  "domain",
  "status",
  "dkim_selector",
  "dkim_public_key",
  "second_dkim_selector",
  "second_dkim_public_key",
  "second_dkim_until",
  "ed25519_selector",
  "ed25519_public_key",
  "ed25519_published",
  "dns_found",
  "check_problem",
  "failed_checks",
  "failed_at",
  "status_changed_at",
  "last_checked_at",
  "created_at",
  "updated_at",
] as const;
const NOW = sql<Date>`now()`.as("now");

export async function listDomainRows(database: Database, projectId: string): Promise<DomainRow[]> {
  return database
    .selectFrom("domains")
    .select([...COLUMNS, NOW])
    .where("project_id", "=", projectId)
    .orderBy("id", "desc")
    .$narrowType<{ dns_found: FoundRecords }>()
    .execute();
}

/** Some of the domains that are verified, others each time. */
export async function listVerifiedDomains(database: Database, limit: number): Promise<DomainRow[]> {
  return database
    .selectFrom("domains")
    .select([...COLUMNS, NOW])
    .where("status", "=", "VERIFIED")
    .orderBy(sql`random()`)
    .limit(limit)
    .$narrowType<{ dns_found: FoundRecords }>()
    .execute();
}

export async function findDomain(
  database: Database,
  { projectId, id }: DomainKey,
): Promise<DomainRow | undefined> {
  return database
    .selectFrom("domains")
    .select([...COLUMNS, NOW])
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .$narrowType<{ dns_found: FoundRecords }>()
    .executeTakeFirst();
}

/** Serialises everything that decides whose a domain is: no unique key can hold across projects. */
export async function lockDomainName(tx: Tx, domain: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`domain:${domain}`}, 0))`.execute(tx);
}

/** Waits until no other transaction adds a domain to this project. */
export async function lockProjectDomains(tx: Tx, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`domains of:${projectId}`}, 0))`.execute(tx);
}

export async function countDomains(database: Database, projectId: string): Promise<number> {
  const row = await database
    .selectFrom("domains")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return row?.count ?? 0;
}

export async function findHolders(
  tx: Database,
  domain: string,
): Promise<Array<{ project_id: string; status: string; last_checked_at: Date | null }>> {
  return tx
    .selectFrom("domains")
    .select(["project_id", "status", "last_checked_at"])
    .where("domain", "=", domain)
    .execute();
}

export async function insertDomain(
  tx: Tx,
  { projectId, id }: DomainKey,
  domain: string,
  key: SealedDkimKey,
): Promise<void> {
  await tx
    .insertInto("domains")
    .values({
      project_id: projectId,
      id,
      domain,
      dkim_selector: key.selector,
      dkim_public_key: key.publicKey,
      dkim_private_key: key.sealedPrivateKey,
    })
    .execute();
}

export async function deleteDomainRow(tx: Tx, { projectId, id }: DomainKey): Promise<boolean> {
  const result = await tx
    .deleteFrom("domains")
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** What signs mail of these domains: all that are there, verified or not. */
export async function findDkimKeys(
  database: Database,
  names: ReadonlyArray<{ projectId: string; domain: string }>,
) {
  const { rows } = await sql<{
    project_id: string;
    domain: string;
    status: string;
    last_checked_at: Date | null;
    dkim_selector: string;
    dkim_private_key: Buffer;
    /** null unless it signs. */
    ed25519_selector: string | null;
    ed25519_private_key: Buffer | null;
  }>`
    select d.project_id, d.domain, d.status, d.last_checked_at, d.dkim_selector, d.dkim_private_key,
      case when d.ed25519_published then d.ed25519_selector end as ed25519_selector,
      case when d.ed25519_published then d.ed25519_private_key end as ed25519_private_key
    from unnest(${names.map((name) => name.projectId)}::uuid[], ${names.map((name) => name.domain)}::text[]) as i (project_id, domain)
    join domains d on d.project_id = i.project_id and d.domain = i.domain`.execute(database);
  return rows;
}

/** Stores a second key as the next one; false when there is one already that still matters. */
export async function insertNextDkimKey(
  tx: Tx,
  { projectId, id }: DomainKey,
  key: SealedDkimKey,
): Promise<boolean> {
  const result = await tx
    .updateTable("domains")
    .set({
      second_dkim_selector: key.selector,
      second_dkim_public_key: key.publicKey,
      second_dkim_private_key: key.sealedPrivateKey,
      second_dkim_until: null,
      updated_at: sql`now()`,
    })
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .where((where) =>
      where.or([
        where("second_dkim_selector", "is", null),
        where("second_dkim_until", "<=", sql<Date>`now()`),
      ]),
    )
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Gives a domain an Ed25519 key, where it has none yet, or with null takes it away. */
export async function updateEd25519Key(
  tx: Tx,
  { projectId, id }: DomainKey,
  key: SealedDkimKey | null,
): Promise<void> {
  await tx
    .updateTable("domains")
    .set({
      ed25519_selector: key?.selector ?? null,
      ed25519_public_key: key?.publicKey ?? null,
      ed25519_private_key: key?.sealedPrivateKey ?? null,
      ed25519_published: false,
      updated_at: sql`now()`,
    })
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .where("ed25519_selector", key === null ? "is not" : "is", null)
    .execute();
}
